#!/bin/sh
# Cross-builds the kernels for aarch64 and runs their checks under qemu, with and without the dot
# product instructions. Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
# Usage: tests/kernels/run_neon.sh [BUILD_DIRECTORY]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-$(mktemp -d)}
mkdir -p "$build"
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU:-qemu-aarch64}
flags="-std=c11 -O3 -D_GNU_SOURCE -Iinclude -Isrc -Itests -ffp-contract=off -fno-math-errno
       -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
kernels=src/kernels
set --
for source in src/base/error.c $kernels/cpu.c $kernels/kernels.c $kernels/scalar.c \
              $kernels/loops_neon.c $kernels/neon.c $kernels/neondot.c \
              tests/kernels/checks.c tests/kernels/standalone.c; do
    object=$build/$(basename "$source" .c).o
    special=
    case $source in
    */neondot.c) special=-march=armv8.2-a+dotprod ;;
    tests/*) special="-Wno-conversion -Wno-pedantic" ;;
    esac
    # The lists of flags are words on purpose.
    # shellcheck disable=SC2086
    $cc $flags $special -c "$source" -o "$object"
    set -- "$@" "$object"
done
$cc -static "$@" -o "$build/kernels_neon" -pthread -lm
"$qemu" -cpu max "$build/kernels_neon" neondot neon scalar
echo "without dot products:"
"$qemu" -cpu cortex-a53 "$build/kernels_neon" neon scalar
