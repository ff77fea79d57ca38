# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# The public headers compiled in other languages and standards than the tests', and the environment variable, which the
# library reads at its first call: each setting needs a process of its own.
foreach(standard 17 20 23)
  add_library(addnorm_header_check_${standard} OBJECT header_check.cc)
  target_link_libraries(addnorm_header_check_${standard} PRIVATE addnorm)
  target_compile_options(addnorm_header_check_${standard} PRIVATE -fno-exceptions -fno-rtti)
  set_target_properties(addnorm_header_check_${standard} PROPERTIES CXX_STANDARD ${standard} CXX_EXTENSIONS OFF)
  addnorm_set_warnings(addnorm_header_check_${standard})
endforeach()

target_sources(addnorm_tests PRIVATE c_api_test.c)
set_source_files_properties(c_api_test.c PROPERTIES COMPILE_OPTIONS "-std=c11;-Wpedantic")

foreach(name scalar avx2 avx512 neon sve no_such_target "")
  add_test(NAME environment.${name} COMMAND addnorm_tests --gtest_filter=Environment.*)
  set_tests_properties(environment.${name} PROPERTIES ENVIRONMENT "ADDNORM_MAX_TARGET=${name}")
endforeach()
