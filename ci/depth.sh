#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs examples/depth.cc and plots what it measured, with the plotting library in an environment of its own in
# ADDNORM_CACHE (default: .cache here).
# Usage: ci/depth.sh              minutes; writes docs/depth, prints the tables of docs/DEPTH.md
#        ci/depth.sh short BUILD  seconds; with the build in the folder BUILD, where its files stay
source "$(dirname "$0")/lib.sh"
if [[ ${1-} == short ]]; then
  build=$2 output=$build/examples/depth options=(--depths "2,3" --seeds 1 --layers "2,3" --steps 20)
else
  build=build-gcc output=docs/depth options=()
  configure gcc >/dev/null
  cmake --build --preset gcc --target example_depth_cc
fi
mkdir -p "$output"
"$build/examples/example_depth_cc" "${options[@]}" --output "$output"
if python_environment depth examples/depth/requirements.txt; then
  "${ADDNORM_CACHE:-$PWD/.cache}/depth/bin/python" examples/depth/plot.py "$output"
elif [[ ${1-} == short ]]; then
  echo "No matplotlib: PyPI is out of reach. No plots are made." >&2
else
  exit 1
fi
