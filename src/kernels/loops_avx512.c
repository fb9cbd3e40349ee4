/* The float loops in AVX-512 registers. */
#define KN_LOOPS kn_loops_avx512
#define KN_QUERIES 4
#include "kernels/lanes_avx512.h"
#include "kernels/loops.h"
