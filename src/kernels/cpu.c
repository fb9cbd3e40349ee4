/*
 * Detection by CPUID and by XCR0, which says whose registers the operating system saves (Intel SDM
 * volume 1, chapters 13.3 and 14.3; volume 2, CPUID). The compilers' __builtin_cpu_supports knows
 * neither AVX-VNNI nor AMX in all versions that we build with.
 */
#include "kernels/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct leaf {
    unsigned eax, ebx, ecx, edx;
} leaf;

static leaf cpuid(unsigned number, unsigned part)
{
    leaf l = {0, 0, 0, 0};
    if (!__get_cpuid_count(number, part, &l.eax, &l.ebx, &l.ecx, &l.edx))
        return (leaf){0, 0, 0, 0};
    return l;
}

static bool has(unsigned word, unsigned bit)
{
    return (word >> bit & 1) != 0;
}

/* Whether the system saves all register states in `mask`, bits of XCR0. */
static bool saves(uint32_t mask)
{
    if (!has(cpuid(1, 0).ecx, 27)) /* OSXSAVE */
        return false;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & mask) == mask;
}

enum { STATE_AVX = 0x6, STATE_AVX512 = 0xE6, STATE_TILES = 0x60000 };

bool kn_cpu_has_avx2(void)
{
    return saves(STATE_AVX) && has(cpuid(7, 0).ebx, 5);
}

bool kn_cpu_has_avxvnni(void)
{
    return kn_cpu_has_avx2() && has(cpuid(7, 1).eax, 4);
}

bool kn_cpu_has_avx512vnni(void)
{
    leaf l = cpuid(7, 0);
    bool registers = has(l.ebx, 16) && has(l.ebx, 17) && has(l.ebx, 30) && has(l.ebx, 31);
    return saves(STATE_AVX512) && registers && has(l.ecx, 11);
}

bool kn_cpu_has_amx(void)
{
    leaf l = cpuid(7, 0);
    if (!kn_cpu_has_avx512vnni() || !saves(STATE_TILES) || !has(l.edx, 24) || !has(l.edx, 25))
        return false;
    /* The permission holds for all threads, those to come included; asking again is harmless. */
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

#elif defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

bool kn_cpu_has_neondot(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}

#endif
