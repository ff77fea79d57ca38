#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Runs the rows of ci/builds.sh for compilers that Debian 12 does not have, in a root of a newer suite that is thrown away
# after it. Needs root, debootstrap and the machine's own Debian mirror.
# Usage: ci/newer-compilers.sh [SUITE] [REGEX]   default: trixie, which has GCC 14 and Clang 19
source "$(dirname "$0")/lib.sh"
suite=${1-trixie} rows=${2-'^(trixie|gcc-14)'}
packages=(apt-utils ca-certificates clang cmake curl dpkg-dev g++ libgtest-dev libmpfr-dev ninja-build nlohmann-json3-dev
  python3-minimal)

# In a mount namespace of its own, which takes /proc along when it ends: else removing the root would reach into it.
if [[ ${ADDNORM_IN_NAMESPACE-} != 1 ]]; then
  root=$(mktemp -d)
  trap 'rm -rf --one-file-system "$root"' EXIT
  ADDNORM_IN_NAMESPACE=1 ADDNORM_ROOT=$root unshare --mount "$0" "$suite" "$rows"
  exit
fi

root=$ADDNORM_ROOT
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)
step "Root of $suite" debootstrap --variant=minbase "$suite" "$root" "$uri" >"$root.log" ||
  { tail "$root.log"; exit 1; }
rm -f "$root.log"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"
mkdir -p "$root/src/.cache"
tar -cf - --exclude='./build*' --exclude=./.git --exclude=./.cache . | tar -xf - -C "$root/src"
cp "$(ci/highway.sh)" "$root/src/.cache/"
mount -t proc proc "$root/proc"
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"; }
install() {
  inside apt-get -qq -o Acquire::Check-Valid-Until=false update
  inside apt-get -qq -o Acquire::Check-Valid-Until=false install -y --no-install-recommends "${packages[@]}" >/dev/null
}
step "Packages" install
inside /src/ci/builds.sh "$rows"
