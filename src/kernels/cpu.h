/* What this processor and its operating system can do. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include <stdbool.h>

#if defined(__x86_64__)
bool kn_cpu_has_avx2(void);
bool kn_cpu_has_avxvnni(void);
bool kn_cpu_has_avx512vnni(void);
/* Also asks Linux to let this process use the tile registers, which no process may by default. */
bool kn_cpu_has_amx(void);
#elif defined(__aarch64__)
bool kn_cpu_has_neondot(void);
#endif

#endif
