# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Highway, compiled into addnorm itself: two of its source files, under another namespace name, so that nothing of it is
# installed, exported or shared with a program that has its own.
#
# Version and checksum are stated here only; ci/highway.sh reads them from this file.
set(addnorm_highway_version 1.3.0)
set(addnorm_highway_sha256 07b3c1ba2c1096878a85a31a5b9b3757427af963b1141ca904db2f9f4afe0bc2)
set(ADDNORM_HIGHWAY_URL "https://github.com/google/highway/archive/refs/tags/${addnorm_highway_version}.tar.gz"
  CACHE STRING "Where Highway's source archive is: a URL or a local file")
option(ADDNORM_SYSTEM_HIGHWAY "Compile against the headers and library of an installed Highway instead" OFF)

# Targets that add nothing over their neighbours (SSE2 ... SSE4 run the scalar reference; NEON adds only AES to
# NEON_WITHOUT_AES) or convert f32 to bf16 in another way (AVX3_ZEN4, AVX3_SPR flush subnormals).
set(addnorm_unused_targets
  HWY_SSE2 HWY_SSSE3 HWY_SSE4 HWY_AVX3_DL HWY_AVX3_ZEN4 HWY_AVX3_SPR HWY_AVX10_2
  HWY_NEON HWY_NEON_BF16 HWY_SVE2 HWY_SVE2_128 HWY_SVE_256)

# The others by their names in ADDNORM_MAX_TARGET and ADDNORM_DISABLED_TARGETS, and Highway's names for them, in the same
# order.
set(addnorm_target_names avx2 avx512 neon sve)
set(addnorm_highway_targets HWY_AVX2 HWY_AVX3 HWY_NEON_WITHOUT_AES HWY_SVE)

# Makes Highway's headers and functions available to `target` alone.
function(addnorm_add_highway target)
  list(JOIN addnorm_unused_targets "|" disabled)
  foreach(name IN LISTS ADDNORM_DISABLED_TARGETS)
    list(FIND addnorm_target_names "${name}" index)
    if(index LESS 0)
      list(JOIN addnorm_target_names ", " known)
      message(FATAL_ERROR "ADDNORM_DISABLED_TARGETS: there is no target '${name}' to leave out, only ${known}")
    endif()
    list(GET addnorm_highway_targets ${index} highway_name)
    string(APPEND disabled "|${highway_name}")
  endforeach()
  target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(${disabled})")

  if(ADDNORM_SYSTEM_HIGHWAY)
    find_package(hwy ${addnorm_highway_version} CONFIG REQUIRED)
    target_link_libraries(${target} PRIVATE hwy::hwy)
    return()
  endif()

  include(FetchContent)
  FetchContent_Declare(addnorm_highway
    URL "${ADDNORM_HIGHWAY_URL}"
    URL_HASH SHA256=${addnorm_highway_sha256}
    DOWNLOAD_EXTRACT_TIMESTAMP FALSE
    SOURCE_SUBDIR none)  # unpack only: Highway's own CMake project is not used
  FetchContent_MakeAvailable(addnorm_highway)
  set(sources ${addnorm_highway_SOURCE_DIR}/hwy/targets.cc ${addnorm_highway_SOURCE_DIR}/hwy/per_target.cc)
  target_sources(${target} PRIVATE ${sources} src/highway_hooks.cc)
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS $<IF:$<BOOL:${MSVC}>,/w,-w>)
  target_include_directories(${target} SYSTEM PRIVATE ${addnorm_highway_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE hwy=addnorm_hwy)
endfunction()
