#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Checks what the library shows to and wants from the program around it: SONAME and exported symbols are those of
# ci/abi.txt; nothing is undefined but what is listed here (no allocation, exceptions, threads, output or abort); no
# static constructor, be it the compiler's; no function in a kernel's object file that the linker could put in the place of
# another file's, but those of a target's namespace (it might use instructions that the other's callers do not have), nor
# a variable in any; less than 1 MB as it is shipped, stripped (1.2 MB for 64-bit ARM).
# Usage: ci/check-symbols.sh BUILD_DIRECTORY [TOOL_PREFIX] (of a shared library; aarch64-linux-gnu-)
source "$(dirname "$0")/lib.sh"
shared=$1/libaddnorm.so objects=$1/CMakeFiles/addnorm.dir tools=${2-}

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
  "${tools}readelf" --dynamic --wide "$shared" | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p'
  "${tools}nm" --dynamic --defined-only --format=posix "$shared" | cut -d ' ' -f 1 | LC_ALL=C sort
} | diff ci/abi.txt - || fail "SONAME or exported symbols are not those of ci/abi.txt"
echo "SONAME and $(($(wc -l <ci/abi.txt) - 1)) exported symbols as in ci/abi.txt"

undefined=$("${tools}nm" --dynamic --undefined-only --format=posix "$shared" | cut -d ' ' -f 1 | sed 's/@.*//' | sort -u)
wrong=$(grep -Evx "${allowed//$'\n'/}" <<<"$undefined" || true)
[[ -z $wrong ]] || fail "undefined and not allowed: ${wrong//$'\n'/ }"
echo "Undefined: ${undefined//$'\n'/ }"

mapfile -t all_objects < <(find "$objects" -name '*.o')
((${#all_objects[@]} > 0)) || fail "no object files in $objects"
constructors=$("${tools}readelf" --sections --wide "${all_objects[@]}" | grep -E '\.(init_array|ctors|preinit_array)' || true)
[[ -z $constructors ]] || fail "static constructors: $constructors"
# Those that the compiler's own library brings are in no object file. The C run-time has one, frame_dummy, 8 bytes.
constructors=$("${tools}readelf" --sections --wide "$shared" |
  sed -nE 's/.* \.(init_array|ctors|preinit_array) +\S+ +(\S+ ){2}(\S+) .*/\1 of \3 bytes/p')
[[ $constructors == 'init_array of 000008 bytes' ]] || fail "static constructors beside frame_dummy: $constructors"
grep -q ' frame_dummy$' <<<"$("${tools}nm" "$shared")" || fail "a static constructor that is not frame_dummy"

# Symbols that the linker merges: weak ones, and those that are unique in a process. Objects among them may be constants
# without pointers: no state, and no way to a function.
merged() { "${tools}objdump" --syms --demangle "$@" | grep -E '^[0-9a-f]+ (u|.w)' | grep -Ev '\*UND\*|addnorm(_hwy)?::N_'; }
functions=$(merged "$objects"/src/{dispatch,kernels/*}.cc.o | grep ' F ' || true)
[[ -z $functions ]] || fail "weak functions outside of a target's namespace: $functions"
variables=$(merged "${all_objects[@]}" | grep ' O ' | grep -v ' O \.rodata' || true)
[[ -z $variables ]] || fail "weak or unique objects that are no plain constants: $variables"

"${tools}strip" -o "$stripped" "$shared"
limit=1000000
# SVE widens f32 to f64 in more instructions, and pages are aligned to 64 kB.
[[ $("${tools}readelf" --file-header "$shared") != *AArch64* ]] || limit=1200000
size=$(stat --format=%s "$stripped")
((size < limit)) || fail "$shared has $size bytes when stripped, $limit or more"
echo "No static constructor; $size bytes, stripped"
