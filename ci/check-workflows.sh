#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Checks the workflows of .github/ against GitHub's schema and for unsafe practices, with tools from PyPI that are
# installed beside the other downloads (.cache); the checks themselves need no network.
source "$(dirname "$0")/lib.sh"
python_environment workflows ci/workflow-tools.txt || exit 0  # said again by ci/test.sh
tools=${ADDNORM_CACHE:-$PWD/.cache}/workflows
"$tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
"$tools/bin/zizmor" --offline --no-progress .github/workflows
