#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# All checks of the project. On a bare Debian 12 machine too, x86-64 or 64-bit ARM; ADDNORM_SKIP_SETUP=1 leaves the
# packages alone.
source "$(dirname "$0")/lib.sh"

sources() {
  ci/format.sh --check
  shellcheck ci/*.sh .ci/run
  ci/check-workflows.sh
  ci/mutate.py --check
}

# Everything, benchmarks too, so that they keep compiling.
gcc_static() {
  configure_unity gcc -DADDNORM_BUILD_BENCH=ON
  cmake --build --preset gcc
  ctest --preset gcc --verbose
}

# The benchmark runs and what reads its files works; the figures mean nothing here.
benchmark() {
  ci/bench.sh --short build-gcc
  ci/report.sh test
}

gcc_shared() {
  configure shared
  cmake --build --preset shared
  ci/check-symbols.sh build-shared
  ci/check-abi.sh
}

# What is likely to break apart from the builds above; the rest of the table is for ci/builds.sh alone.
some_builds() {
  ci/builds.sh '^gcc-12-scalar$'
}

# also_shared BUILD COMPILER [TOOL_PREFIX]: checks the symbols of a shared library of the static one's objects, whose
# functions are visible (ADDNORM_SHARED): seconds, where a build would take minutes.
also_shared() {
  "$2" -shared -O2 -Wl,-soname,"$(head -n 1 ci/abi.txt)" -Wl,--whole-archive "$1/libaddnorm.a" -Wl,--no-whole-archive \
    -lm -o "$1/libaddnorm.so"
  ci/check-symbols.sh "$1" "${3-}"
}

# All tests but those of accuracy in long rows and on emulated CPUs: the checksums hold Clang's bits against GCC's. The
# sanitizers build the tools, by Clang too.
clang_static() {
  configure_unity clang -DCMAKE_CXX_FLAGS=-DADDNORM_SHARED -DADDNORM_BUILD_TOOLS=OFF
  cmake --build --preset clang
  ctest --preset clang -E '^(addnorm_accuracy_tests|addnorm_tests[.].*)$'
  also_shared build-clang clang++-19
}

# On 64-bit ARM Highway takes Clang's SVE for broken.
clang_instructions() {
  local targets=()
  [[ $architecture != aarch64 ]] || targets=(--targets "neon,scalar")
  ci/check-disassembly.py objdump "$architecture" build-clang "${targets[@]}"
}

# The tests that reach most of the code in the shortest time; ci/sanitize.sh alone runs all.
sanitizers() {
  ADDNORM_SANITIZE_FILTER='AccuracyShort*:*GuardPage*:*Contract*:*StructSize*:Threads.*:CppApi*:Ops/*-*EveryShift*' ci/sanitize.sh
}

# tests/CMakeLists.txt lists the emulated CPUs, and which tests run there.
arm() {
  configure_unity aarch64 -DCMAKE_CXX_FLAGS=-DADDNORM_SHARED
  cmake --build --preset aarch64
  ctest --preset aarch64
  also_shared build-aarch64 aarch64-linux-gnu-g++ aarch64-linux-gnu-
}

# What the vector code of this machine's architecture runs on natively; qemu has no AVX-512.
this_cpu() {
  case $architecture in
    x86_64) grep -qw avx512vl /proc/cpuinfo || not_checked "AVX-512: this CPU has none" ;;
    aarch64) grep -qw sve /proc/cpuinfo || not_checked "SVE: this CPU has none" ;;
  esac
}

architecture=$(uname -m)
ADDNORM_NOT_CHECKED=$(mktemp)
export ADDNORM_NOT_CHECKED
trap 'rm -f "$ADDNORM_NOT_CHECKED"' EXIT
[[ -n ${ADDNORM_SKIP_SETUP-} ]] || step "Packages" ci/setup.sh test
step "Format, shell scripts, workflows" sources
step "GCC, static library: build, tests" gcc_static
step "Benchmark and report" benchmark
step "Example depth and its plots" ci/depth.sh short build-gcc
step "GCC: instruction sets" ci/check-disassembly.py objdump "$architecture" build-gcc
step "GCC, shared library: build, symbols, binary interface" gcc_shared
step "Clang, static library: build, tests, symbols" clang_static
step "Clang: instruction sets" clang_instructions
step "Sanitizers" sanitizers
step "Fuzzers, 20 s" ci/fuzz.sh 20
step "Consumers" ci/consumers.sh build-gcc build-shared
[[ $architecture != x86_64 ]] || step "Other flags, options and compilers" some_builds
step "Reference documentation" doxygen Doxyfile
if [[ $architecture == x86_64 ]]; then
  step "64-bit ARM, static library: build, tests under qemu with NEON and SVE, symbols" arm
  step "64-bit ARM: instruction sets" ci/check-disassembly.py aarch64-linux-gnu-objdump aarch64 build-aarch64
fi
this_cpu
printf '\nAll checks passed in %d s.\n' "$SECONDS"
if [[ -s $ADDNORM_NOT_CHECKED ]]; then
  echo "NOT CHECKED on this machine:"
  sort -u "$ADDNORM_NOT_CHECKED" | sed 's/^/  - /'
fi
