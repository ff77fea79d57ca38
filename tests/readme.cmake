# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Checks that README.md shows the example programs as they are compiled, but for their licence line.
# Usage: cmake -D ROOT=<repository> -P readme.cmake
file(READ ${ROOT}/README.md readme)
foreach(language c cc)
  file(READ ${ROOT}/examples/readme.${language} program)
  string(FIND "${program}" "\n" end_of_first_line)
  math(EXPR start "${end_of_first_line} + 1")
  string(SUBSTRING "${program}" ${start} -1 program)
  string(REPLACE "cc" "cpp" fence "${language}")
  string(FIND "${readme}" "\n```${fence}\n${program}```\n" position)
  if(position EQUAL -1)
    message(SEND_ERROR "README.md has no ${fence} block that equals examples/readme.${language}")
  endif()
endforeach()
