/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program with ADDNORM_EXPECT_CHOICE, the target that a call in main() gets.
 * Usage: addnorm_with_target COMMAND [ARGUMENT]... */
#include <stdio.h>
#include <unistd.h>

#include "call.h"

int main(int argc, char** argv) {
  if (argc < 2 || !LayerNormIsRight(&addnorm_layer_norm)) return 1;
  if (setenv("ADDNORM_EXPECT_CHOICE", addnorm_target_name(), 1) != 0) return 1;
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 1;
}
