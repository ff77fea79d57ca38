#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# All checks of the project. On a bare Debian 12 machine too; ADDNORM_SKIP_SETUP=1 leaves the packages alone.
source "$(dirname "$0")/lib.sh"

sources() {
  ci/format.sh --check
  shellcheck ci/*.sh .ci/run
}

# Everything, benchmarks too, so that they keep compiling.
native() {
  configure gcc -DADDNORM_BUILD_BENCH=ON
  cmake --build --preset gcc
  ctest --preset gcc --verbose
}

shared() {
  configure shared
  cmake --build --preset shared
  ci/check-symbols.sh build-shared/libaddnorm.so build-gcc/libaddnorm.a
}

documentation() {
  doxygen Doxyfile
}

clang() {
  configure clang
  cmake --build --preset clang
  ctest --preset clang
}

# tests/CMakeLists.txt lists the emulated CPUs, and which tests run there.
arm() {
  configure aarch64
  cmake --build --preset aarch64
  ci/check-disassembly.py aarch64-linux-gnu-objdump aarch64 build-aarch64/libaddnorm.a
  ctest --preset aarch64
}

[[ -n ${ADDNORM_SKIP_SETUP-} ]] || step "Packages" ci/setup.sh test
step "Format and shell scripts" sources
step "GCC: build, all tests" native
step "x86 instruction sets" ci/check-disassembly.py objdump x86_64 build-gcc/libaddnorm.a
step "Shared library: symbols" shared
step "Consumers" ci/consumers.sh build-gcc build-shared
step "Reference documentation" documentation
step "Clang: build, all tests" clang
step "x86 instruction sets, Clang" ci/check-disassembly.py objdump x86_64 build-clang/libaddnorm.a
step "64-bit ARM: build, tests under qemu with NEON and SVE" arm
printf '\nAll checks passed in %d s.\n' "$SECONDS"
