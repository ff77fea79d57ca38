/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * The rows of one call on OpenMP's threads, through the C interface. */
#include <addnorm/addnorm.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 1000, kCols = 768, kRowsInRange = 16 };

static void OpenMpFor(void* context, int64_t rows, addnorm_range_body body, void* task) {
  (void)context;
#pragma omp parallel for
  for (int64_t begin = 0; begin < rows; begin += kRowsInRange) {
    const int64_t end = begin + kRowsInRange < rows ? begin + kRowsInRange : rows;
    body(task, begin, end);
  }
}

int main(void) {
  float* x = malloc(kRows * kCols * sizeof(float));
  float* y = malloc(kRows * kCols * sizeof(float));
  if (x == NULL || y == NULL) return 1;
  for (int i = 0; i < kRows * kCols; ++i) x[i] = (float)(i % 1001) / 500.0f - 1.0f;

  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  args.rows = kRows;
  args.cols = kCols;
  args.x = (addnorm_input){x, kCols, ADDNORM_F32, 0};
  args.y = (addnorm_output){y, kCols, ADDNORM_F32, 0};
  args.epsilon = 1e-6;
  args.parallel.parallel_for = OpenMpFor;
  const addnorm_status status = addnorm_rms_norm(&args);
  printf("%s: y[0] = %.9g\n", status == ADDNORM_OK ? addnorm_target_name() : addnorm_status_text(status), y[0]);
  free(x);
  free(y);
  return status == ADDNORM_OK ? 0 : 1;
}
