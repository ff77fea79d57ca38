#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Compares the public functions and argument structs with the committed ci/abi.xml (libabigail): whatever an old caller
# could notice is an error until the file is written anew on purpose. The file is of the headers alone, their functions made
# empty ones of a shared object in C; it is also compared with the library's own functions, as its C++ defines them.
# Usage: ci/check-abi.sh [--write]
source "$(dirname "$0")/lib.sh"
if [[ $(uname -m) != x86_64 ]]; then
  not_checked "the types of the binary interface: ci/abi.xml is that of x86-64"
  exit
fi
work=$(mktemp -d) jobs=()
trap 'rm -rf "$work"' EXIT

# Preprocessed, a declaration is one line.
# training.h includes addnorm.h.
gcc -std=c11 -E -P -Iinclude include/addnorm/training.h |
  sed -E '/^ *typedef/!s/^(.* \*?addnorm_[a-z0-9_]+\(.*\));$/\1 { __builtin_trap(); }/' >"$work/addnorm.c"
soname=$(head -n 1 ci/abi.txt)
(cd "$work" && gcc -std=c11 -g -shared -fPIC -Wl,-soname,"$soname" addnorm.c -o libaddnorm.so)
nm --dynamic --defined-only --format=posix "$work/libaddnorm.so" | cut -d ' ' -f 1 | LC_ALL=C sort |
  diff <(tail -n +2 ci/abi.txt) - || { echo "error: the functions of the headers are not those of ci/abi.txt" >&2; exit 1; }
abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --out-file "$work/abi.xml" "$work/libaddnorm.so"

if [[ ${1-} == --write ]]; then
  cp "$work/abi.xml" ci/abi.xml
  echo "Written: ci/abi.xml"
  exit
fi

if ! abidiff --no-show-locs ci/abi.xml "$work/abi.xml"; then
  echo "error: the binary interface is not that of ci/abi.xml. If that is meant, run ci/check-abi.sh --write" >&2
  exit 1
fi
# The files that define functions of the interface, with debug information and nothing that they call. What else they
# export is for ci/check-symbols.sh.
for file in api api_backward queries status targets; do
  g++ -std=c++17 -g -fPIC -fvisibility=hidden -I. -Iinclude -DADDNORM_BUILDING -DADDNORM_SHARED -DADDNORM_VERSION_NUMBER=0 \
    -c "src/$file.cc" -o "$work/$file.o" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
g++ -shared -Wl,-soname,"$soname" "$work"/*.o -o "$work/libaddnorm.so"
if ! abidiff --no-show-locs --no-added-syms ci/abi.xml "$work/libaddnorm.so"; then
  echo "error: the library's functions are not those that the headers declare" >&2
  exit 1
fi
echo "Binary interface: $(grep -c '<function-decl' ci/abi.xml) functions as in ci/abi.xml"
