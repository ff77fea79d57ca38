# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0

# Turns the project's warnings on for one of its own targets.
function(addnorm_set_warnings target)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W3)
    return()
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(ADDNORM_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
