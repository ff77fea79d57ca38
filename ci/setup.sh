#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Installs what the other scripts need on Debian 12, from its own mirrors. Does nothing where all is there.
# Usage: ci/setup.sh run     to build and replay captures (ci/run.sh)
#        ci/setup.sh bench   for that and ci/bench.sh, bench/report
#        ci/setup.sh test    for all of that and ci/test.sh
#        ci/setup.sh builds  for that and all of ci/builds.sh
source "$(dirname "$0")/lib.sh"

run_packages=(ca-certificates cmake curl dpkg-dev g++ libmpfr-dev ninja-build nlohmann-json3-dev)
bench_packages=(git libbenchmark-dev python3 python3-venv)
test_packages=(abigail-tools clang-19 clang-format-19 doxygen libclang-rt-19-dev libeigen3-dev libgtest-dev libhwy-dev pkg-config shellcheck)
cross_packages=(g++-aarch64-linux-gnu libgtest-dev:arm64 libmpfr-dev:arm64 libstdc++6:arm64 qemu-user)
builds_packages=(clang-14 lld-19)

apt_get() {
  # Package lists past their date are accepted; their signatures are checked all the same.
  DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Check-Valid-Until=false -o Acquire::Retries=3 \
    -o Dpkg::Use-Pty=0 "$@"
}

# install PACKAGE...: those of them that are missing.
install() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "All packages are installed: $*"
    return
  fi
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
}

test_setup() {
  install "${run_packages[@]}" "${bench_packages[@]}" "${test_packages[@]}"
  [[ $(dpkg --print-architecture) == amd64 ]] || return 0  # on ARM itself nothing is cross-built
  [[ " $(dpkg --print-foreign-architectures | xargs) " == *" arm64 "* ]] || dpkg --add-architecture arm64
  install "${cross_packages[@]}"
}

case "${1-}" in
  run) install "${run_packages[@]}" ;;
  bench) install "${run_packages[@]}" "${bench_packages[@]}" ;;
  test) test_setup ;;
  builds)
    test_setup
    install "${builds_packages[@]}"
    ;;
  *)
    echo "usage: $0 run|bench|test|builds" >&2
    exit 2
    ;;
esac
