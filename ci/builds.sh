#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Builds the library, shared, in each way of one table, and runs one test program against it: the committed checksums
# on every target, and which targets there are. Where the flags tell the baseline, no instruction may be beyond it outside
# of a target's functions. docs/BUILDS.md has the results.
# Usage: ci/builds.sh [--list] [REGEX]   only the rows whose name matches
source "$(dirname "$0")/lib.sh"

# name | compiler | flags | CMake options | what to run on: CPU=TARGETS...
# A CPU is "native", with the flag of /proc/cpuinfo that this CPU needs (native:avx512_fp16), or one of qemu's. avx512 is
# expected of a native run only where the CPU has it. A row with tests has the library inside of its test program, which is
# compiled with the same flags; linked with -O2, it does not start with flush-to-zero, with which its data would be others.
table='
gcc-12-O0            | g++-12     | -O0                  |                                       | native=avx512,avx2,scalar qemu64=scalar
gcc-12-O1-C++20      | g++-12     | -O1                  | -DCMAKE_CXX_STANDARD=20               | native=avx512,avx2,scalar
gcc-12-O2            | g++-12     | -O2                  |                                       | native=avx512,avx2,scalar
gcc-12-O3-C++23      | g++-12     | -O3                  | -DCMAKE_CXX_STANDARD=23               | native=avx512,avx2,scalar
gcc-12-plain         | g++-12     | -O1 -fno-exceptions -fno-rtti -fno-strict-aliasing |         | native=avx512,avx2,scalar
gcc-12-fast-math     | g++-12     | -O1 -ffast-math -ffp-contract=fast |                         | native=avx512,avx2,scalar qemu64=scalar
gcc-12-Ofast         | g++-12     | -Ofast               |                                       | native=avx512,avx2,scalar
gcc-12-lto           | g++-12     | -O2                  | -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON | native=avx512,avx2,scalar
gcc-12-lto-Ofast     | g++-12     | -Ofast               | -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON | native=avx512,avx2,scalar
gcc-12-static-lto-Ofast | g++-12  | -Ofast               | -DBUILD_SHARED_LIBS=OFF -DADDNORM_BUILD_TESTS=ON -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_EXE_LINKER_FLAGS=-O2 | native=avx512,avx2,scalar
gcc-12-unity         | g++-12     | -O1                  | -DCMAKE_UNITY_BUILD=ON                | native=avx512,avx2,scalar
gcc-12-native        | g++-12     | -O2 -march=native    |                                       | native
gcc-12-x86-64-v2     | g++-12     | -O2 -march=x86-64-v2 |                                       | native=avx512,avx2,scalar Nehalem=scalar
gcc-12-haswell       | g++-12     | -O2 -march=haswell -ffast-math |                             | native=avx512,avx2,scalar Haswell=avx2,scalar
gcc-12-skylake-avx512 | g++-12    | -O2 -march=skylake-avx512 |                                  | native:avx512bw=avx512,scalar
gcc-12-sapphirerapids | g++-12    | -O2 -march=sapphirerapids |                                  | native:avx512_fp16=avx512,scalar
gcc-12-no-avx512     | g++-12     | -O1                  | -DADDNORM_DISABLED_TARGETS=avx512     | native=avx2,scalar
gcc-12-scalar        | g++-12     | -O2                  | -DADDNORM_DISABLED_TARGETS=avx2;avx512 | native=scalar
clang-14-O0          | clang++-14 | -O0                  |                                       | native=avx512,avx2,scalar qemu64=scalar
clang-14-O2          | clang++-14 | -O2                  |                                       | native=avx512,avx2,scalar
clang-14-fast-math   | clang++-14 | -Ofast -ffast-math   |                                       | native=avx512,avx2,scalar
clang-14-haswell     | clang++-14 | -O2 -march=haswell   |                                       | native=avx512,avx2,scalar Haswell=avx2,scalar
clang-19-O0          | clang++-19 | -O0                  |                                       | native=avx512,avx2,scalar qemu64=scalar
clang-19-O1-C++20    | clang++-19 | -O1                  | -DCMAKE_CXX_STANDARD=20               | native=avx512,avx2,scalar
clang-19-O3-C++23    | clang++-19 | -O3 -fno-exceptions -fno-rtti | -DCMAKE_CXX_STANDARD=23      | native=avx512,avx2,scalar
clang-19-fast-math   | clang++-19 | -O2 -ffast-math -ffp-contract=fast |                         | native=avx512,avx2,scalar
clang-19-lto         | clang++-19 | -O2                  | -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld-19 | native=avx512,avx2,scalar
clang-19-unity       | clang++-19 | -O1                  | -DCMAKE_UNITY_BUILD=ON                | native=avx512,avx2,scalar
clang-19-native      | clang++-19 | -O2 -march=native    |                                       | native
clang-19-x86-64-v2   | clang++-19 | -O2 -march=x86-64-v2 |                                       | native=avx512,avx2,scalar Nehalem=scalar
clang-19-haswell     | clang++-19 | -O2 -march=haswell   |                                       | native=avx512,avx2,scalar Haswell=avx2,scalar
clang-19-skylake-avx512 | clang++-19 | -O2 -march=skylake-avx512 |                               | native:avx512bw=avx512,scalar
clang-19-sapphirerapids | clang++-19 | -O2 -march=sapphirerapids |                               | native:avx512_fp16=avx512,scalar
gcc-14-O0            | g++-14     | -O0                  |                                       | native=avx512,avx2,scalar
gcc-14-O2-C++23      | g++-14     | -O2                  | -DCMAKE_CXX_STANDARD=23               | native=avx512,avx2,scalar
gcc-14-fast-math     | g++-14     | -O1 -ffast-math -ffp-contract=fast |                         | native=avx512,avx2,scalar
gcc-14-native        | g++-14     | -O1 -march=native    |                                       | native
trixie-clang-19-O1   | clang++    | -O1                  | -DCMAKE_CXX_STANDARD=23               | native=avx512,avx2,scalar
arm-gcc-12-O0        | aarch64-linux-gnu-g++ | -O0       |                                       | cortex-a72=neon,scalar max,sve-default-vector-length=32=sve,neon,scalar
arm-gcc-12-fast-math | aarch64-linux-gnu-g++ | -Ofast -ffast-math |                              | cortex-a72=neon,scalar max,sve-default-vector-length=32=sve,neon,scalar
arm-gcc-12-cortex-a72 | aarch64-linux-gnu-g++ | -O2 -mcpu=cortex-a72 |                           | cortex-a72=neon,scalar max,sve-default-vector-length=32=sve,neon,scalar
arm-gcc-12-neoverse-v1 | aarch64-linux-gnu-g++ | -O2 -mcpu=neoverse-v1 |                         | max,sve-default-vector-length=32=sve,scalar
arm-gcc-12-bf16      | aarch64-linux-gnu-g++ | -O1 -march=armv8.6-a+bf16 |                       | max,sve-default-vector-length=32=sve,neon,scalar
arm-gcc-12-no-sve    | aarch64-linux-gnu-g++ | -O1       | -DADDNORM_DISABLED_TARGETS=sve        | max,sve-default-vector-length=32=neon,scalar
arm-clang-19-O2      | clang++-19 --target=aarch64-linux-gnu | -O2 |                             | cortex-a72=neon,scalar max,sve-default-vector-length=32=neon,scalar
'

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }

# check_program ARCHITECTURE: builds the test program once, against the library as it is built by default.
check_program() {
  local architecture=$1
  if [[ $architecture == aarch64 ]]; then
    configure aarch64 -B build-aarch64-shared -DBUILD_SHARED_LIBS=ON -DCMAKE_SKIP_BUILD_RPATH=ON
    cmake --build build-aarch64-shared --target addnorm_build_check
  else
    configure shared
    cmake --build --preset shared
  fi
}

# run ARCHITECTURE LIBRARY_DIRECTORY CPU[=TARGETS]
run() {
  local architecture=$1 library=$2 cpu=${3%=*} targets='' need program test=build-shared/tests/addnorm_build_check
  [[ $architecture == x86_64 ]] || test="build-aarch64-shared/tests/addnorm_build_check"
  [[ ! -e $library/tests ]] || test=$library/tests/addnorm_build_check  # that has the library inside
  # The last = divides: CPUs of qemu have properties.
  [[ $3 != *=* ]] || targets=${3##*=}
  case $architecture/$cpu in
    */native*)
      need=${cpu#native} need=${need#:}
      if [[ -n $need ]] && ! grep -qw "$need" /proc/cpuinfo; then
        echo "Not run: this CPU has no $need"
        return
      fi
      grep -qw avx512bw /proc/cpuinfo || targets=${targets/avx512,/}
      program=(env LD_LIBRARY_PATH="$library" "$test")
      ;;
    x86_64/*) program=(qemu-x86_64 -cpu "$cpu" -E LD_LIBRARY_PATH="$library" "$test") ;;
    *) program=(qemu-aarch64 -cpu "$cpu" -E LD_LIBRARY_PATH="$library" "$test") ;;
  esac
  [[ -z $targets ]] || program=(env ADDNORM_EXPECT_TARGETS="$targets" "${program[@]}")
  logged "${program[@]}" --gtest_brief=1 --gtest_filter='Checksums.*:Dispatch.*' || return 1
  echo "$cpu: the same bits on ${targets:-every target}"
}

# logged COMMAND...: shows what it printed only if it fails.
logged() {
  "$@" >"$work/log" 2>&1 && return
  cat "$work/log"
  return 1
}

# look_at_instructions ARCHITECTURE BUILD FLAGS OPTIONS RUN...: the library has the targets that it is run with.
look_at_instructions() {
  local architecture=$1 build=$2 flags=$3 options=$4 what=$2 tools='' baseline=()
  case $flags in
    *-march=haswell*) baseline=(--baseline avx2) ;;
    *-march=skylake-avx512*) baseline=(--baseline avx512) ;;
    *-march=* | *-mcpu=neoverse*) echo "Instruction sets not looked at: the flags change them"; return ;;
  esac
  # With link-time optimization the objects have no machine code yet.
  case $options in
    *TESTS=ON*) what=$build/tests/addnorm_build_check ;;
    *INTERPROCEDURAL*) what=$build/libaddnorm.so ;;
  esac
  [[ $architecture == x86_64 ]] || tools=aarch64-linux-gnu-
  logged ci/check-disassembly.py ${tools}objdump "$architecture" "$what" "${baseline[@]}" \
    --targets "$(printf '%s\n' "${@:5}" | sed -n 's/.*=//p' | paste -sd ,)"
}

skipped=77
# build_row COMPILER FLAGS OPTIONS RUNS. Called as a condition, where nothing ends by itself.
build_row() {
  local compiler=$1 flags=$2 architecture=x86_64 options=() runs=() build=$work/build target=addnorm run
  read -ra options <<<"$3"
  read -ra runs <<<"$4"
  if [[ $compiler == *aarch64* ]]; then
    architecture=aarch64
    options+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64)
    [[ $compiler != *' '* ]] || flags="${compiler#* } $flags" compiler=${compiler%% *}
  fi
  if ! command -v "$compiler" >/dev/null; then
    echo "Not built: there is no $compiler here"
    return "$skipped"
  fi
  rm -rf "$build"
  logged configure shared -B "$build" -DADDNORM_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" "${options[@]}" || return 1
  [[ $3 != *TESTS=ON* ]] || target=addnorm_build_check
  logged cmake --build "$build" --target "$target" || return 1
  look_at_instructions "$architecture" "$build" "$flags" "$3" "${runs[@]}" || return 1
  for run in "${runs[@]}"; do run "$architecture" "$build" "$run" || return 1; done
}

[[ ${1-} != --list ]] || { sed -n '/|/s/ *|.*//p' <<<"$table"; exit; }
pattern=${1-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=()
selected=$(sed '/|/!d' <<<"$table" | while IFS='|' read -r name rest; do
  name=$(trim "$name")
  [[ ! $name =~ $pattern ]] || echo "$name|$rest"
done)
[[ -n $selected ]] || { echo "error: no row matches $pattern" >&2; exit 2; }

if ci/highway.sh >/dev/null && refused=$(configure shared -B "$work/refused" -DADDNORM_DISABLED_TARGETS='avx512;avx1024' 2>&1); then
  echo "error: a target of unknown name may be disabled" >&2
  exit 1
fi
grep -q "there is no target 'avx1024'" <<<"$refused" || { echo "$refused"; exit 1; }

if grep -q '^arm' <<<"$selected"; then step "Test program, aarch64" check_program aarch64; fi
if grep -qv '^arm' <<<"$selected"; then step "Test program, x86_64" check_program x86_64; fi
good=0 not_built=0
while IFS='|' read -r name compiler flags options runs; do
  start=$SECONDS
  printf '\n=== %s: %s\n' "$name" "$(trim "$compiler $flags $options" | tr -s ' ')"
  if build_row "$(trim "$compiler")" "$(trim "$flags")" "$(trim "$options")" "$(trim "$runs")" </dev/null; then
    result=good good=$((good + 1))
  elif (($? == skipped)); then
    result='not built' not_built=$((not_built + 1))
  else
    result=FAILED failed+=("$name")
  fi
  printf -- '--- %s: %s, %d s\n' "$name" "$result" $((SECONDS - start))
done <<<"$selected"
printf '\nBuilds: %d good, %d failed, %d not built here\n' "$good" "${#failed[@]}" "$not_built"
if ((${#failed[@]} > 0)); then
  echo "error: failed: ${failed[*]}" >&2
  exit 1
fi
