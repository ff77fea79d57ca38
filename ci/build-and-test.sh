#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Builds and tests with the compiler and libraries at hand, on any system that CMake knows. Highway is fetched from
# upstream.
# Usage: ci/build-and-test.sh [CMAKE_OPTION]...
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build-here -DCMAKE_BUILD_TYPE=Release "$@"
cmake --build build-here --config Release --parallel
ctest --test-dir build-here --build-config Release --output-on-failure
