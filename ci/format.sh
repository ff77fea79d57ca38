#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Formats all C and C++ sources with clang-format 19; with --check only tells whether they are.
source "$(dirname "$0")/lib.sh"
mode=(-i)
[[ ${1-} != --check ]] || mode=(--dry-run --Werror)
find bench examples include src tests tools \( -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.hpp' \) -print0 |
  xargs -0 clang-format-19 "${mode[@]}"
