#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs the fuzzers of tests/fuzz side by side with AddressSanitizer and UBSan, from the committed seeds and what earlier
# runs here have added to build-sanitize/corpus. The first input that breaks a promise ends a fuzzer, and stays in
# build-sanitize as a file to give to it again.
# Usage: ci/fuzz.sh [SECONDS]    default: 3600
source "$(dirname "$0")/lib.sh"
seconds=${1-3600}

build() {
  configure_sanitizer sanitize
  cmake --build --preset sanitize --target addnorm_{api,backward,differential,replay}_fuzz
}

# fuzz NAME [OPTION]...
fuzz() {
  local name=$1 corpus=build-sanitize/corpus/$1
  mkdir -p "$corpus"
  "build-sanitize/tests/fuzz/addnorm_${name}_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build-sanitize/$name-" "${@:2}" "$corpus" "tests/fuzz/seeds/$name" \
    >"build-sanitize/fuzz-$name.log" 2>&1
}

all() {
  local name failed=0
  declare -A running
  fuzz api -max_len=512 & running[api]=$!
  fuzz differential -max_len=256 & running[differential]=$!
  fuzz backward -max_len=512 & running[backward]=$!
  # 16 MB: no more than a few times the longest header that is read.
  fuzz replay -max_len=4096 -malloc_limit_mb=16 -dict=tests/fuzz/replay.dict & running[replay]=$!
  for name in "${!running[@]}"; do
    if wait "${running[$name]}"; then
      awk -v name="$name" '/^stat::number_of_executed_units/ { printf "%-12s %10d inputs\n", name, $2 }' \
        "build-sanitize/fuzz-$name.log"
    else
      failed=1
      grep -v '# Uses' "build-sanitize/fuzz-$name.log" | tail -n 50 >&2
      echo "error: $name" >&2
    fi
  done
  return "$failed"
}

step "Fuzzers: build" build
step "C interface, targets against each other, backward operations, captures" all
