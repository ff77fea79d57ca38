# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# The flags that the bits of results depend on, and those of a library that never throws. They come after the parent's, so
# that -ffast-math and -Ofast there change no bit.
if(MSVC)  # and clang-cl, which takes Clang's flags after /clang:
  target_compile_options(addnorm PRIVATE /fp:precise /GR- /EHs-c-
    $<$<CXX_COMPILER_ID:Clang>:/clang:-ffp-contract=off>
    $<$<CXX_COMPILER_ID:MSVC>:/permissive- /Zc:__cplusplus>)
  return()
endif()

# errno is no part of a result; without it square roots are one instruction. Clang's -fno-fast-math takes back all that
# GCC's leaves; before version 18 it warns of whatever one of these flags takes back of another.
target_compile_options(addnorm PRIVATE
  -fno-fast-math $<$<CXX_COMPILER_ID:GNU>:-fno-unsafe-math-optimizations> -fno-finite-math-only -ffp-contract=off
  -fno-math-errno -fno-trapping-math
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,18>>:-Wno-overriding-t-option>
  -fno-exceptions -fno-rtti
  -fno-asynchronous-unwind-tables -fno-unwind-tables)  # nothing throws through the library; 6 % of its size
# GCC links crtfastmath.o into a shared library built with -ffast-math or -Ofast, which only another -O takes back: it sets
# flush-to-zero in the whole process.
target_link_options(addnorm PRIVATE -O2 -fno-fast-math)
target_link_libraries(addnorm PRIVATE m)  # fma, on CPUs without the instruction
