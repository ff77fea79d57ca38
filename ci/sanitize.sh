#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs the tests with the sanitizers of Clang 19; GCC's AddressSanitizer does not see masked accesses of AVX2 and AVX-512.
# Usage: ci/sanitize.sh [address|memory|thread]...    default: all of them, and every test with AddressSanitizer
# ADDNORM_SANITIZE_FILTER: the tests to run with AddressSanitizer, as --gtest_filter takes it.
source "$(dirname "$0")/lib.sh"

address() {
  configure_sanitizer sanitize
  cmake --build --preset sanitize --target addnorm_tests addnorm_replay_tests addnorm_threads
  build-sanitize/tests/addnorm_tests --gtest_brief=1 --gtest_filter="${ADDNORM_SANITIZE_FILTER-*}"
  build-sanitize/tools/replay/addnorm_replay_tests --gtest_brief=1
  build-sanitize/tests/sanitize/addnorm_threads
}

memory() {
  configure_sanitizer memory
  cmake --build --preset memory --target addnorm_uninitialized
  build-memory/tests/sanitize/addnorm_uninitialized
}

# Many times: what is first only once in a process, and who comes first, has to be tried in many. Without AVX-512: what
# threads share is the same for all targets.
thread() {
  local run
  configure_unity thread -DADDNORM_DISABLED_TARGETS=avx512
  cmake --build --preset thread --target addnorm_threads
  for run in {1..10}; do
    build-thread/tests/sanitize/addnorm_threads >build-thread/threads.log || { echo "error: run $run" >&2; return 1; }
  done
  cat build-thread/threads.log
}

(($# > 0)) || set -- address memory thread
for sanitizer in "$@"; do
  case $sanitizer in
    address) step "AddressSanitizer and UBSan" address ;;
    memory) step "MemorySanitizer" memory ;;
    thread) step "ThreadSanitizer" thread ;;
    *) echo "usage: $0 [address|memory|thread]..." >&2; exit 2 ;;
  esac
done
