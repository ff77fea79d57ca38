#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Checks the workflows of .github/ against GitHub's schema and for unsafe practices, with tools from PyPI that are
# installed beside the other downloads (.cache); the checks themselves need no network.
source "$(dirname "$0")/lib.sh"
tools=${ADDNORM_CACHE:-$PWD/.cache}/workflow-tools
if ! cmp -s ci/workflow-tools.txt "$tools/installed.txt"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 1 --no-deps -r ci/workflow-tools.txt; then
    echo "The workflows are not checked: PyPI is out of reach." >&2
    exit 0
  fi
  cp ci/workflow-tools.txt "$tools/installed.txt"
fi
"$tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
"$tools/bin/zizmor" --offline --no-progress .github/workflows
