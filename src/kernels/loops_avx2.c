/* The float loops in AVX registers. */
#define KN_LOOPS kn_loops_avx2
#include "kernels/lanes_avx2.h"
#include "kernels/loops.h"
