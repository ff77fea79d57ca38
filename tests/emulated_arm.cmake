# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# The tests of a build for 64-bit ARM, on the CPUs that the project's CMakeLists.txt lists. More of them run by hand, with
# ctest -C long -L long.

# In an emulator, all tests but those that take minutes there or whose subject is no vector code (overlap). Every
# operation with all its dtypes and every cols to 4 V + 3 (AccuracyShort), the checksums and the contract are among them.
set(slow_in_emulator
  Accuracy.* AccuracyBackward.* BatchIndependence.ATokenAlone* EqualBits.AnyBatchSizeAndRowPosition EqualBits.EveryTarget*
  EqualBitsBackward.EveryTarget* EqualBitsBackward.RowsDoNotDependOnTheirBatch
  Dropout.EveryTargetWithLongAndManyRows DropoutBackward.EveryTargetWithLongRows DropoutBackward.WithinTheBounds
  EqualBitsBackward.SavedStatisticsInF64AreTheRecomputedOnes ParallelBackward.* FloatingPointMode.ChangesNoBit*
  Fusion.AddThenNorm Fusion.NormThenAdd Fusion.Outputs* InPlace.EqualsSeparateMemory *GuardPageTest.*InLongRows*
  PathBoundaries.* Ops/OverlapTest.EveryShift* Ops/OverlapTest.InputsMayOverlap* Ops/OverlapTest.OperandsInterleaved*
  ReportedFaults.NaNAndInfinityStayInTheirRow SpecialRows.OfUnitSpread SpecialRows.WithoutSpreadGiveBeta Store.* SveLength.*)
list(JOIN slow_in_emulator ":" slow_in_emulator)
# On two of the CPUs, these as well.
set(slower_tests
  BatchIndependence.ATokenAlone* EqualBitsBackward.EveryTargetAtEveryLength FloatingPointMode.* Fusion.NormThenAdd
  SpecialRows.WithoutSpreadGiveBeta SveLength.*)
list(JOIN slower_tests ":" slower_tests)
# By hand, with the slower tests. The checksums have rows at the same boundaries.
set(slowest_tests
  PathBoundaries.LayerNormSecondPass PathBoundaries.RmsExactSquares ReportedFaults.NaNAndInfinityStayInTheirRow Store.*)
list(JOIN slowest_tests ":" slowest_tests)
# On SVE of 256 bits and more these alone: every operation with all its dtypes at every length. What depends less on the
# vectors runs on the shortest.
set(vector_tests
  AccuracyShort.* Checksums.* Dispatch.* EqualBitsBackward.AnyAlignmentAndStride InPlace.EqualsSeparateMemoryInShortRows
  OpCases/GuardPageTest.NothingBetweenRows* ReportedFaults.* SpecialRows.WithA* WorkedExamples.*)
list(JOIN vector_tests ":" vector_tests)
string(APPEND vector_tests "-ReportedFaults.NaNAndInfinity*")
message(STATUS "Left out on emulated ARM CPUs, as they take minutes there: ${slow_in_emulator}")
message(STATUS "Of these on cortex-a72 and SVE of 128 bits all the same: ${slower_tests}")
message(STATUS "Alone on SVE of 256, 512 and 2048 bits, as they take three times as long there: ${vector_tests}")
# add_emulated_test(name cpu filter): on the widest of the CPU's targets.
function(add_emulated_test name cpu filter)
  set(environment ADDNORM_EXPECT_TARGETS=neon,scalar ADDNORM_TESTED_TARGETS=neon)
  if(cpu MATCHES "sve|a64fx")
    set(environment ADDNORM_EXPECT_TARGETS=sve,neon,scalar ADDNORM_TESTED_TARGETS=sve)
  endif()
  add_test(NAME ${name}.${cpu} ${ARGN} COMMAND addnorm_tests "--gtest_filter=${filter}")
  set_tests_properties(${name}.${cpu} PROPERTIES ENVIRONMENT "QEMU_CPU=${cpu};${environment}")
endfunction()
foreach(cpu IN LISTS addnorm_emulated_cpus)
  if(cpu MATCHES "length=(32|64|256)$")
    add_emulated_test(addnorm_tests ${cpu} "${vector_tests}")
  else()
    add_emulated_test(addnorm_tests ${cpu} "-${slow_in_emulator}")
  endif()
endforeach()
foreach(cpu cortex-a72 max,sve-default-vector-length=16)
  add_emulated_test(addnorm_slower_tests ${cpu} "${slower_tests}")
endforeach()
# The scalar reference, compiled for ARM.
add_test(NAME addnorm_tests.scalar COMMAND addnorm_tests --gtest_filter=Checksums.*:WorkedExamples.*)
set_tests_properties(addnorm_tests.scalar PROPERTIES ENVIRONMENT "QEMU_CPU=cortex-a72;ADDNORM_TESTED_TARGETS=scalar")
# SVE of the first version: an instruction of SVE2 would end the program.
add_emulated_test(addnorm_tests a64fx "Dispatch.*:WorkedExamples.*:EqualBits*.AnyAlignmentAndStride")
# A cap that is beyond the CPU.
add_test(NAME environment.sve.cortex-a72 COMMAND addnorm_tests --gtest_filter=Environment.*)
set_tests_properties(environment.sve.cortex-a72 PROPERTIES ENVIRONMENT "QEMU_CPU=cortex-a72;ADDNORM_MAX_TARGET=sve")

# By hand: the checksums on the emulator's other CPUs, and the slower and slowest tests on all.
foreach(cpu a64fx cortex-a35 cortex-a53 cortex-a57 cortex-a76 neoverse-n1)
  add_emulated_test(addnorm_checksums ${cpu} Checksums.* CONFIGURATIONS long)
  set_tests_properties(addnorm_checksums.${cpu} PROPERTIES LABELS long)
endforeach()
foreach(cpu IN LISTS addnorm_emulated_cpus)
  add_emulated_test(addnorm_slowest_tests ${cpu} "${slower_tests}:${slowest_tests}" CONFIGURATIONS long)
  set_tests_properties(addnorm_slowest_tests.${cpu} PROPERTIES LABELS long)
endforeach()
