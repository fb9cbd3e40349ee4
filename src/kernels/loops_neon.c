/* The float loops in NEON registers. */
#define KN_LOOPS kn_loops_neon
#include "kernels/lanes_neon.h"
#include "kernels/loops.h"
