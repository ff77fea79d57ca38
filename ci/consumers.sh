#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Uses addnorm as other projects do: in C and C++, static and shared, by find_package and pkg-config from an installed
# prefix that was moved, and by add_subdirectory and FetchContent in a parent built with -Ofast, with link-time optimization
# too; beside another Highway; and twice in a program of two plugins. All have to print the same hash of some results.
# Usage: ci/consumers.sh STATIC_BUILD SHARED_BUILD
source "$(dirname "$0")/lib.sh"
static_build=$1 shared_build=$2
# Of numerics version 1, on every CPU; tests/consumer/print_hash.h says of what.
expected='LayerNorm bc42c52b320446cd RMSNorm 7695480290df3b74'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# run HOW COMMAND...: looks at what it prints.
run() {
  local output
  output=$("${@:2}" | sort -u) || output+=' (failed)'
  printf '%-48s %s\n' "$1" "$output"
  [[ $output == "$expected" ]] || failed=1
}

# build DIRECTORY OPTION...: a consumer's CMake project, in $work/build.
build() {
  rm -rf "$work/build"
  cmake -S "tests/consumer/$1" -B "$work/build" -G Ninja --log-level=WARNING "${@:2}"
  cmake --build "$work/build" >"$work/log" || { cat "$work/log"; return 1; }
}

by_pkg_config() {
  local kind=$1 prefix=$2 flags=() config=(pkg-config --cflags --libs) library_path
  [[ $kind == shared ]] || config+=(--static)
  library_path=$(dirname "$(find "$prefix" -name addnorm.pc)")
  read -ra flags <<<"$(PKG_CONFIG_PATH=$library_path "${config[@]}" addnorm)"
  gcc -std=c11 -Wall -Wextra -Wpedantic -Werror tests/consumer/main.c "${flags[@]}" -o "$work/c"
  g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror tests/consumer/main.cc "${flags[@]}" -o "$work/cc"
  run "C, $kind, pkg-config" env LD_LIBRARY_PATH="$library_path/.." "$work/c"
  run "C++, $kind, pkg-config" env LD_LIBRARY_PATH="$library_path/.." "$work/cc"
}

# no_highway PREFIX: nothing of Highway is installed there.
no_highway() {
  ! find "$1" | grep -Ei 'hwy|highway' || { echo "error: files of Highway are installed" >&2; return 1; }
}

installed() {
  local kind=$1 from=$2 prefix=$work/$1 scope
  cmake --install "$from" --prefix "$work/first-$kind" >"$work/log"
  mv "$work/first-$kind" "$prefix"
  build installed -DCMAKE_PREFIX_PATH="$prefix" -DADDNORM_HIGHWAY_VERSION="$highway_inside"
  run "C, $kind, find_package" "$work/build/consumer_c"
  run "C++, $kind, find_package" "$work/build/consumer_cc"
  run "C++, $kind, with Highway $highway_here in it" "$work/build/consumer_highway"
  if [[ $kind == static ]]; then
    for scope in local global; do
      run "C, two plugins, symbols $scope" "$work/build/consumer_plugins" $scope "$work"/build/lib{First,Second}.so
    done
    run "C, two shared libraries, linked" "$work/build/consumer_linked"
  fi
  no_highway "$prefix"
  by_pkg_config "$kind" "$prefix"
}

# embedded HOW BUILD_SHARED_LIBS DISABLED_TARGETS OPTION...
embedded() {
  build embedded "${@:4}" -DADDNORM_HIGHWAY_URL="$archive" -DBUILD_SHARED_LIBS="$2" -DADDNORM_DISABLED_TARGETS="$3"
  run "C, $1 under -Ofast" "$work/build/consumer_c"
  run "C++, $1 under -Ofast" "$work/build/consumer_cc"
}

archive=$(ci/highway.sh)
highway_here=$(pkg-config --modversion libhwy)
highway_inside=$(sed -n 's/^set(addnorm_highway_version \(.*\))$/\1/p' cmake/highway.cmake)
tar -czf "$work/addnorm.tar.gz" --exclude='./build*' --exclude=./.git --exclude=./.cache .
installed static "$static_build"
installed shared "$shared_build"
# With fewer targets, which tries that option, and is quicker: AVX2 would take half a minute more for each. ci/builds.sh has
# rows of -Ofast and of link-time optimization with all.
embedded "static, add_subdirectory" OFF avx512 -DADDNORM_SOURCE_DIR="$PWD"
embedded "shared, add_subdirectory" ON 'avx2;avx512' -DADDNORM_SOURCE_DIR="$PWD"
embedded "static, FetchContent, LTO" OFF 'avx2;avx512' -DADDNORM_ARCHIVE="$work/addnorm.tar.gz" \
  -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
if ((failed)); then
  echo "error: not everywhere $expected" >&2
  exit 1
fi
