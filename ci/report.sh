#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs bench/report with the plotting library that it needs, in an environment of its own in ADDNORM_CACHE (default:
# .cache here).
# Usage: ci/report.sh html -o PAGE.html FILE.json...   further commands: ci/report.sh --help
#        ci/report.sh test                             its tests, with what ci/bench.sh --short wrote, if anything
source "$(dirname "$0")/lib.sh"
venv=${ADDNORM_CACHE:-$PWD/.cache}/report
python=$venv/bin/python
if ! python_environment report bench/report/requirements.txt; then
  [[ ${1-} != html && ${1-} != plot ]] || exit 1
  echo "No plotly: PyPI is out of reach. The page is not tested; all but \`html\` and \`plot\` works." >&2
fi

if [[ ${1-} != test ]]; then
  exec "$python" bench/report "$@"
fi
"$python" bench/report/report_test.py
if [[ -f build-gcc/bench.json ]]; then
  "$python" bench/report table build-gcc/bench.json
  "$python" bench/report compare build-gcc/bench.json build-gcc/bench.json
  [[ ! -f $venv/installed ]] || "$python" bench/report html -o build-gcc/bench.html build-gcc/bench.json
fi
