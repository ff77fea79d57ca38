#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs each fuzzer of tests/fuzz with AddressSanitizer and UBSan, from the committed seeds and what earlier runs here have
# added to build-sanitize/corpus. The first input that breaks a promise ends it, and stays in build-sanitize as a file to
# give to the fuzzer again.
# Usage: ci/fuzz.sh [SECONDS_EACH]    default: 3600
source "$(dirname "$0")/lib.sh"
seconds=${1-3600}

build() {
  configure_sanitizer sanitize
  cmake --build --preset sanitize --target addnorm_{api,backward,differential,replay}_fuzz
}

# fuzz NAME [OPTION]...
fuzz() {
  local name=$1 corpus=build-sanitize/corpus/$1 log=build-sanitize/fuzz-$1.log
  mkdir -p "$corpus"
  if ! "build-sanitize/tests/fuzz/addnorm_${name}_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build-sanitize/$name-" "${@:2}" "$corpus" "tests/fuzz/seeds/$name" \
    >"$log" 2>&1; then
    grep -v '# Uses' "$log" | tail -n 50 >&2
    return 1
  fi
  grep -E '^stat::(number_of_executed_units|average_exec_per_sec)' "$log"
}

step "Fuzzers: build" build
step "Fuzzing the C interface" fuzz api -max_len=512
step "Fuzzing targets against each other" fuzz differential -max_len=256
# 16 MB: no more than a few times the longest header that is read.
step "Fuzzing the backward operations" fuzz backward -max_len=512
step "Fuzzing captures" fuzz replay -max_len=4096 -malloc_limit_mb=16 -dict=tests/fuzz/replay.dict
