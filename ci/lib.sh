# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts of this folder share. Sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(nproc)}"

# step NAME COMMAND...: runs it, says so, and tells how long it took.
step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  "$@"
  printf -- '--- %s: %d s\n' "$name" $((SECONDS - start))
}

# not_checked WHAT: says that it is not checked on this machine; ci/test.sh says so again at its end.
not_checked() {
  echo "Not checked: $*" >&2
  [[ -z ${ADDNORM_NOT_CHECKED-} ]] || echo "$*" >>"$ADDNORM_NOT_CHECKED"
}

# configure PRESET [OPTION]...: CMake, with the archive of Highway that ci/highway.sh keeps.
configure() {
  local preset=$1 archive
  shift
  archive=$(ci/highway.sh)
  cmake --preset "$preset" -DADDNORM_HIGHWAY_URL="$archive" "$@"
}

# configure_unity PRESET [OPTION]...: several files compiled as one, which takes half the time where they are small and
# include much, as those of the tests do. Where it does not matter how: the other builds keep files apart.
configure_unity() { configure "$@" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=6; }

# configure_sanitizer PRESET: without AVX-512 where this CPU has none, as instrumented kernels take minutes to compile.
configure_sanitizer() {
  local left_out=
  grep -qw avx512vl /proc/cpuinfo || left_out=avx512
  configure_unity "$1" -DADDNORM_DISABLED_TARGETS=$left_out
}

# python_environment NAME REQUIREMENTS: a virtual environment in ADDNORM_CACHE with what the file lists; fails where PyPI
# is out of reach.
python_environment() {
  local venv=${ADDNORM_CACHE:-$PWD/.cache}/$1
  cmp -s "$2" "$venv/installed" && return
  python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 -r "$2" &&
    cp "$2" "$venv/installed" && return
  not_checked "what needs the packages of $2: PyPI is out of reach"
  return 1
}
