#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Measures this machine: every suite, into one JSON file that ci/report.sh makes a page of.
# Usage: ci/bench.sh [FILE]           sets up and builds (Debian 12), takes some minutes; default: build-bench/bench.json
#        ci/bench.sh --short BUILD    a few seconds with the benchmark of a build: does it work?
# CXX chooses the compiler; ADDNORM_SKIP_SETUP=1 leaves the packages alone; ADDNORM_BENCH_OPTIONS has further options of
# addnorm_bench, as in "--machine=Zen5 --cpu=1".
source "$(dirname "$0")/lib.sh"

# measure BUILD FILE OPTION...
measure() {
  local build=$1 file=$2 commit options
  shift 2
  commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
  read -ra options <<<"${ADDNORM_BENCH_OPTIONS-}"
  "$build/bench/addnorm_bench" --json="$file" --commit="$commit" "${options[@]}" "$@"
}

if [[ ${1-} == --short ]]; then
  build=${2:?which build?}
  # One case of each suite; the matrices of `prefill` would take too long.
  measure "$build" "$build/bench.json" --ms=0 --suite={table,backward,decode,models,sizes,hard,threads,dropout} \
    --filter='^(rms_norm(_backward)?/f32>f32/(32x4096|1x4096|16x128)|add/f32.*/32x4096/dropout)(/|$)'
  measure "$build" "$build/bench-cold.json" --ms=0 --suite=table --cold --filter='^add_rms_norm/f32.*/32x4096'
  measure "$build" "$build/bench-in-place.json" --ms=0 --suite=table --in-place --filter='^add_rms_norm/f32.*/32x4096'
  exit
fi

[[ -n ${ADDNORM_SKIP_SETUP-} ]] || step "Packages" ci/setup.sh bench
step "Configure" configure bench
step "Build" cmake --build --preset bench --target addnorm_bench
file=${1:-build-bench/bench.json}
step "Measure" measure build-bench "$file" --suite={table,backward,decode,prefill,models,sizes,hard,threads,dropout}
echo "Written: $file"
