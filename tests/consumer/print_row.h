/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * Prints the bits of a result, for comparison between all ways to use addnorm. Returns what main() does. */
#ifndef ADDNORM_TESTS_CONSUMER_PRINT_ROW_H_
#define ADDNORM_TESTS_CONSUMER_PRINT_ROW_H_

#include <addnorm/addnorm.h>
#include <stdio.h>

static inline int PrintRow(void) {
  static const float x[4] = {1, 2, 3, 4};
  float y[4];
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  args.rows = 1;
  args.cols = 4;
  args.x.data = x;
  args.x.dtype = ADDNORM_F32;
  args.y.data = y;
  args.y.dtype = ADDNORM_F32;
  args.epsilon = 1e-5;
  if (addnorm_layer_norm(&args) != ADDNORM_OK) return 1;
  printf("%a %a %a %a\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
  return 0;
}

#endif /* ADDNORM_TESTS_CONSUMER_PRINT_ROW_H_ */
