#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Prints the path of Highway's source archive, fetching it once into ADDNORM_CACHE (default: .cache here): from upstream,
# or, where that is out of reach, from Debian's source package through the mirror that apt uses. The checksum of
# cmake/highway.cmake has to fit in each case.
source "$(dirname "$0")/lib.sh"

value_of() { sed -n "s/^set($1 \(.*\))$/\1/p" cmake/highway.cmake; }
version=$(value_of addnorm_highway_version)
sha256=$(value_of addnorm_highway_sha256)
cache=${ADDNORM_CACHE:-$PWD/.cache}
archive=$cache/highway-$version.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep FILE: puts it into the cache if it is the right one.
keep() {
  sha256sum --status -c - <<<"$sha256  $1" 2>/dev/null || return 1
  mkdir -p "$cache"
  mv "$1" "$archive"
}

from_upstream() {
  local url
  url=$(sed -n 's/^set(ADDNORM_HIGHWAY_URL "\([^"]*\)"$/\1/p' cmake/highway.cmake)
  url=${url//'${addnorm_highway_version}'/$version}
  curl --fail --silent --show-error --location --connect-timeout 10 --max-time 120 -o "$work/upstream.tar.gz" "$url" &&
    keep "$work/upstream.tar.gz"
}

# from_debian SUITE: with lists and settings of its own, so that the machine's apt stays as it is.
from_debian() {
  local apt state=$work/$1 uri
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
    sort -u | head -n 1)
  [[ -n $uri ]] || return 1
  mkdir -p "$state"/{lists,archives}/partial
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $1 main" >"$state/sources.list"
  apt=(apt-get -qq -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$state/lists" -o Dir::Cache::Archives="$state/archives" -o APT::Sandbox::User=root
    -o Acquire::Check-Valid-Until=false)
  "${apt[@]}" update &&
    (cd "$state" && "${apt[@]}" source --download-only --tar-only highway) &&
    keep "$state/highway_$version.orig.tar.gz"
}

# Everything but the path goes to stderr.
fetch() {
  local suite
  echo "Fetching Highway $version"
  from_upstream && return
  for suite in sid testing; do
    echo "Trying Debian's source package ($suite)"
    from_debian "$suite" && return
  done
  echo "error: Highway $version (sha256 $sha256) is neither upstream nor in Debian's sid or testing; put it at $archive"
  return 1
}

sha256sum --status -c - <<<"$sha256  $archive" 2>/dev/null || fetch >&2
echo "$archive"
