#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Checks what the library shows to and wants from the program around it: SONAME and exported symbols are those of
# ci/abi.txt; nothing is undefined but what is listed here (no allocation, exceptions, threads, output or abort); no
# static constructor; no function in a kernel's object file that the linker could put in the place of another file's, but
# those of a target's namespace (it might use instructions that the other's callers do not have); less than 1 MB as it is
# shipped, stripped.
# Usage: ci/check-symbols.sh BUILD_DIRECTORY (of a shared library)
source "$(dirname "$0")/lib.sh"
shared=$1/libaddnorm.so objects=$1/CMakeFiles/addnorm.dir

# fma: CPUs without the instruction. getauxval: detection on ARM. getenv: ADDNORM_MAX_TARGET. The last line is the
# C run-time's own.
allowed='fma|fmaf|sqrt|memcpy|memmove|memset|strcmp|strlen|getauxval|getenv
|__cxa_finalize|__gmon_start__|_ITM_(de)?registerTMCloneTable|__stack_chk_fail'

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT

fail() {
  echo "error: $*" >&2
  exit 1
}

{
  readelf --dynamic --wide "$shared" | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p'
  nm --dynamic --defined-only --format=posix "$shared" | cut -d ' ' -f 1 | LC_ALL=C sort
} | diff ci/abi.txt - || fail "SONAME or exported symbols are not those of ci/abi.txt"
echo "SONAME and $(($(wc -l <ci/abi.txt) - 1)) exported symbols as in ci/abi.txt"

undefined=$(nm --dynamic --undefined-only --format=posix "$shared" | cut -d ' ' -f 1 | sed 's/@.*//' | sort -u)
wrong=$(grep -Evx "${allowed//$'\n'/}" <<<"$undefined" || true)
[[ -z $wrong ]] || fail "undefined and not allowed: ${wrong//$'\n'/ }"
echo "Undefined: ${undefined//$'\n'/ }"

constructors=$(find "$objects" -name '*.o' -exec readelf --sections --wide {} + | grep -E '\.(init_array|ctors|preinit_array)' || true)
[[ -z $constructors ]] || fail "static constructors: $constructors"

weak=$(nm --demangle --defined-only "$objects"/src/{dispatch,kernels/*}.cc.o | grep ' W ' | grep -v 'addnorm\(_hwy\)\?::N_' || true)
[[ -z $weak ]] || fail "weak functions outside of a target's namespace: $weak"

strip -o "$stripped" "$shared"
size=$(stat --format=%s "$stripped")
((size < 1000000)) || fail "$shared has $size bytes when stripped, 1 MB or more"
echo "No static constructor; $size bytes, stripped"
