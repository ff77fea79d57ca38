/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A C program that uses addnorm. Prints the bits of a result, for comparison between all ways to build it. */
#include <addnorm/addnorm.h>
#include <stdio.h>

int main(void) {
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
  printf("%a %a %a %a\n", y[0], y[1], y[2], y[3]);
  return 0;
}
