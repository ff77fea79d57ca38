#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Formats all C and C++ sources with clang-format 19; with --check only tells whether they are.
source "$(dirname "$0")/lib.sh"
mode=(-i)
[[ ${1-} != --check ]] || mode=(--dry-run --Werror)
git ls-files -z '*.c' '*.cc' '*.h' '*.hpp' | xargs -0 clang-format-19 "${mode[@]}"
