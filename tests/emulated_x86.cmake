# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# The same programs on other x86 CPUs than this one, in an emulator: with AVX2 and without, and where CPU and operating
# system disagree about it. qemu has no AVX-512: that is tested where the machine has it.
find_program(ADDNORM_QEMU_X86_64 qemu-x86_64 DOC "Runs the tests on other x86 CPUs")
mark_as_advanced(ADDNORM_QEMU_X86_64)
if(NOT ADDNORM_QEMU_X86_64 OR CMAKE_CXX_FLAGS MATCHES "-fsanitize|-march")
  message(STATUS "No tests on other x86 CPUs: qemu-x86_64 is not here, or the build is not for every x86 CPU")
  return()
endif()

set(dispatch_tests Dispatch.*:Environment.*:Targets.Each*)
# add_emulated_test(cpu targets filter): with just these targets; what would take long by hand only, with
# ctest -C long -L long
function(add_emulated_test cpu targets filter)
  set(command ${ADDNORM_QEMU_X86_64} $<TARGET_FILE:addnorm_tests>)
  set(environment "QEMU_CPU=${cpu};ADDNORM_EXPECT_TARGETS=${targets}")
  add_test(NAME addnorm_tests.${cpu} COMMAND ${command} "--gtest_filter=${dispatch_tests}:${filter}")
  set_tests_properties(addnorm_tests.${cpu} PROPERTIES ENVIRONMENT "${environment}")
  if(NOT filter MATCHES "Checksums")
    add_test(NAME addnorm_checksums.${cpu} CONFIGURATIONS long COMMAND ${command} "--gtest_filter=Checksums.*")
    set_tests_properties(addnorm_checksums.${cpu} PROPERTIES ENVIRONMENT "${environment}" LABELS long)
  endif()
endfunction()

# Every operation with all its dtypes, on one CPU of either kind.
add_emulated_test(Nehalem scalar Checksums.*)
add_emulated_test(Haswell avx2,scalar Checksums.*)
# The oldest x86-64; AVX without AVX2; AVX2 without what always comes with it; AVX2 in a system that does not keep its
# registers; another maker's. An instruction too many would end the program.
set(few_tests *ContractTest.*:WorkedExamples.*)
message(STATUS "Alone on most emulated x86 CPUs, as all take minutes there: ${dispatch_tests}:${few_tests}")
foreach(cpu qemu64 Westmere IvyBridge Haswell,-fma Haswell,-f16c Haswell,-bmi2 Haswell,-avx Haswell,-xsave)
  add_emulated_test(${cpu} scalar ${few_tests})
endforeach()
add_emulated_test(EPYC avx2,scalar ${few_tests})

# Caps that are beyond the CPU.
foreach(cap avx512.Haswell avx512.Nehalem avx2.Nehalem)
  string(REPLACE "." ";" words ${cap})
  list(GET words 0 name)
  list(GET words 1 cpu)
  add_test(NAME environment.${cap} COMMAND ${ADDNORM_QEMU_X86_64} $<TARGET_FILE:addnorm_tests> --gtest_filter=Environment.*)
  set_tests_properties(environment.${cap} PROPERTIES ENVIRONMENT "QEMU_CPU=${cpu};ADDNORM_MAX_TARGET=${name}")
endforeach()
