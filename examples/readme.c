/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0 */
#include <addnorm/addnorm.h>
#include <stdio.h>

int main(void) {
  float x[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, residual[2][4] = {{1, 1, 1, 1}, {2, 2, 2, 2}}, y[2][4];
  addnorm_add_norm_args args = ADDNORM_ADD_NORM_ARGS_INIT;
  args.rows = 2;
  args.cols = 4;
  args.x = (addnorm_input){x, 4, ADDNORM_F32, 0};
  args.residual = (addnorm_input){residual, 4, ADDNORM_F32, 0};
  args.sum_out = (addnorm_output){residual, 4, ADDNORM_F32, 0}; /* the new residual stream, in place */
  args.y = (addnorm_output){y, 4, ADDNORM_F32, 0};
  args.epsilon = 1e-5;
  addnorm_status status = addnorm_add_rms_norm(&args); /* residual += x; y = RMSNorm(residual) */
  printf("%s: %s, y[0][0] = %g\n", addnorm_target_name(), addnorm_status_text(status), (double)y[0][0]);
  return status == ADDNORM_OK ? 0 : 1;
}
