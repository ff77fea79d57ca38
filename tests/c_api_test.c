/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 * addnorm.h as a C11 program uses it. Called from a test in C++; returns 0, or the line of the first check that failed.
 */
#include <addnorm/training.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

int addnorm_c_api_test(void);

#define CHECK(condition)               \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

/* The structs are part of the ABI: 64-bit layouts that no later version may change. */
_Static_assert(sizeof(addnorm_input) == 24 && sizeof(addnorm_output) == 24, "operands");
_Static_assert(offsetof(addnorm_input, row_stride) == 8 && offsetof(addnorm_input, dtype) == 16, "operands");
_Static_assert(sizeof(addnorm_reduce_args) == 160 && offsetof(addnorm_reduce_args, rms) == 120, "reductions");
_Static_assert(sizeof(addnorm_add_args) == 152 && offsetof(addnorm_add_args, bias) == 96, "add");
_Static_assert(sizeof(addnorm_norm_args) == 208 && offsetof(addnorm_norm_args, gamma) == 80, "norms");
_Static_assert(sizeof(addnorm_add_norm_args) == 296 && offsetof(addnorm_add_norm_args, sum_out) == 104, "add and norm");
_Static_assert(sizeof(addnorm_norm_add_args) == 240 && offsetof(addnorm_norm_add_args, gamma) == 104, "norm and add");
_Static_assert(offsetof(addnorm_add_args, dropout) == 144 && offsetof(addnorm_add_norm_args, dropout) == 288,
               "dropout");
_Static_assert(sizeof(addnorm_dropout) == 64 && offsetof(addnorm_dropout, first_row) == 24, "dropout");
_Static_assert(sizeof(addnorm_parallel) == 16, "threads");
_Static_assert(sizeof(addnorm_dtypes) == 20 && sizeof(addnorm_status) == 4, "others");
_Static_assert(sizeof(addnorm_add_backward_args) == 168 && offsetof(addnorm_add_backward_args, dbias) == 96,
               "backward of add");
_Static_assert(sizeof(addnorm_norm_backward_args) == 352 && offsetof(addnorm_norm_backward_args, gamma) == 80,
               "backward of norms");

/* So are the values of the constants, which callers have compiled in. */
_Static_assert(ADDNORM_F32 == 1 && ADDNORM_F16 == 2 && ADDNORM_BF16 == 3 && ADDNORM_F64 == 4, "dtypes");
_Static_assert(ADDNORM_OK == 0 && ADDNORM_NULL_POINTER == 1 && ADDNORM_WRONG_STRUCT_SIZE == 2, "statuses");
_Static_assert(ADDNORM_NEGATIVE_SIZE == 3 && ADDNORM_SIZE_TOO_LARGE == 4 && ADDNORM_STRIDE_TOO_SMALL == 5, "statuses");
_Static_assert(ADDNORM_UNALIGNED == 6 && ADDNORM_UNKNOWN_DTYPE == 7 && ADDNORM_UNPROMISED_DTYPES == 8, "statuses");
_Static_assert(ADDNORM_BAD_NUMBER == 9 && ADDNORM_FORBIDDEN_OVERLAP == 10 && ADDNORM_UNUSED_OPERAND == 11, "statuses");
_Static_assert(ADDNORM_RESERVED_NOT_ZERO == 12 && ADDNORM_EMPTY_REDUCTION == 13, "statuses");
_Static_assert(ADDNORM_UNKNOWN_TARGET == 14 && ADDNORM_OUT_OF_RANGE == 15 && ADDNORM_SHAPE_MISMATCH == 16, "statuses");
_Static_assert(ADDNORM_MISSING_STATISTIC == 17 && ADDNORM_SMALL_WORKSPACE == 18, "statuses");
_Static_assert(ADDNORM_STORE_AUTOMATIC == 0 && ADDNORM_STORE_CACHED == 1 && ADDNORM_STORE_STREAMING == 2, "stores");
_Static_assert(ADDNORM_OP_MEAN == 0 && ADDNORM_OP_VARIANCE == 1 && ADDNORM_OP_MEAN_VARIANCE == 2, "operations");
_Static_assert(ADDNORM_OP_MEAN_SQUARE == 3 && ADDNORM_OP_RMS == 4 && ADDNORM_OP_ADD == 5, "operations");
_Static_assert(ADDNORM_OP_LAYER_NORM == 6 && ADDNORM_OP_RMS_NORM == 7, "operations");
_Static_assert(ADDNORM_OP_ADD_LAYER_NORM == 8 && ADDNORM_OP_ADD_RMS_NORM == 9, "operations");
_Static_assert(ADDNORM_OP_LAYER_NORM_ADD == 10 && ADDNORM_OP_RMS_NORM_ADD == 11, "operations");
_Static_assert(ADDNORM_OP_ADD_BACKWARD == 12 && ADDNORM_OP_LAYER_NORM_BACKWARD == 13, "operations");
_Static_assert(ADDNORM_OP_RMS_NORM_BACKWARD == 14 && ADDNORM_OP_ADD_LAYER_NORM_BACKWARD == 15, "operations");
_Static_assert(ADDNORM_OP_ADD_RMS_NORM_BACKWARD == 16 && ADDNORM_OP_LAYER_NORM_ADD_BACKWARD == 17, "operations");
_Static_assert(ADDNORM_OP_RMS_NORM_ADD_BACKWARD == 18, "operations"); /* ADDNORM_OP_COUNT grows with the list */
_Static_assert(ADDNORM_MAX_COLS == (int64_t)1 << 28 && ADDNORM_WORKSPACE_ALIGNMENT == 64, "limits");

static int Close(const float* y, const float* expected, int count) {
  for (int i = 0; i < count; ++i) {
    if (!(fabsf(y[i] - expected[i]) <= 1e-6f * fabsf(expected[i]))) return 0;
  }
  return 1;
}

int addnorm_c_api_test(void) {
  const float x[4] = {1, 2, 3, 4}, residual[4] = {0.5f, -0.5f, 0, 1};
  float y[4] = {0}, sum[4] = {0}, statistic = 0;
  double mean = 0, variance = 0;

  addnorm_reduce_args reduce = ADDNORM_REDUCE_ARGS_INIT;
  reduce.rows = 1;
  reduce.cols = 4;
  reduce.x = (addnorm_input){x, 4, ADDNORM_F32, 0};
  reduce.mean = (addnorm_output){&mean, 1, ADDNORM_F64, 0};
  reduce.variance = (addnorm_output){&variance, 1, ADDNORM_F64, 0};
  CHECK(addnorm_mean_variance(&reduce) == ADDNORM_OK);
  CHECK(mean == 2.5 && variance == 1.25);
  CHECK(addnorm_status_kind(addnorm_mean(&reduce)) == ADDNORM_UNUSED_OPERAND);

  addnorm_norm_args norm = ADDNORM_NORM_ARGS_INIT;
  norm.rows = 1;
  norm.cols = 4;
  norm.x = (addnorm_input){x, 4, ADDNORM_F32, 0};
  norm.y = (addnorm_output){y, 4, ADDNORM_F32, 0};
  CHECK(norm.epsilon == -1.0); /* ADDNORM_UNSET_EPSILON, which no version may take for a number */
  CHECK(addnorm_status_kind(addnorm_layer_norm(&norm)) == ADDNORM_BAD_NUMBER); /* epsilon has no default */
  CHECK(strncmp(addnorm_status_text(addnorm_layer_norm(&norm)), "epsilon: ", 9) == 0);
  norm.epsilon = 1e-5;
  norm.rstd = (addnorm_output){&statistic, 1, ADDNORM_F32, 0};
  CHECK(addnorm_layer_norm(&norm) == ADDNORM_OK);
  CHECK(Close(y, (const float[4]){-1.34163542f, -0.447211807f, 0.447211807f, 1.34163542f}, 4));
  CHECK(Close(&statistic, (const float[1]){0.894423613f}, 1));
  norm.epsilon = 0;
  CHECK(addnorm_rms_norm(&norm) == ADDNORM_OK);
  CHECK(Close(y, (const float[4]){0.365148372f, 0.730296743f, 1.09544512f, 1.46059349f}, 4));

  addnorm_add_args add = ADDNORM_ADD_ARGS_INIT;
  add.rows = 1;
  add.cols = 4;
  add.x = norm.x;
  add.residual = (addnorm_input){residual, 4, ADDNORM_F32, 0};
  add.sum_out = (addnorm_output){sum, 4, ADDNORM_F32, 0};
  CHECK(addnorm_add(&add) == ADDNORM_OK);
  CHECK(sum[0] == 1.5f && sum[1] == 1.5f && sum[2] == 3 && sum[3] == 5);
  const uint8_t mask[1] = {5}; /* columns 0 and 2 are kept */
  addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
  add.dropout = &dropout;
  CHECK(addnorm_status_kind(addnorm_add(&add)) == ADDNORM_BAD_NUMBER); /* probability has no default */
  dropout.probability = 0.5;
  dropout.seed = 1;
  dropout.mask = mask;
  CHECK(addnorm_add(&add) == ADDNORM_OK);
  CHECK(sum[0] == 2.5f && sum[1] == -0.5f && sum[2] == 6 && sum[3] == 1);

  addnorm_add_norm_args add_norm = ADDNORM_ADD_NORM_ARGS_INIT;
  add_norm.rows = 1;
  add_norm.cols = 4;
  add_norm.x = norm.x;
  add_norm.residual = add.residual;
  add_norm.y = norm.y;
  add_norm.epsilon = 1e-6;
  CHECK(addnorm_add_layer_norm(&add_norm) == ADDNORM_OK);
  CHECK(addnorm_add_rms_norm(&add_norm) == ADDNORM_OK);

  addnorm_norm_add_args norm_add = ADDNORM_NORM_ADD_ARGS_INIT;
  norm_add.rows = 1;
  norm_add.cols = 4;
  norm_add.x = norm.x;
  norm_add.residual = add.residual;
  norm_add.y = norm.y;
  norm_add.epsilon = 1e-6;
  CHECK(addnorm_layer_norm_add(&norm_add) == ADDNORM_OK);
  CHECK(addnorm_rms_norm_add(&norm_add) == ADDNORM_OK);

  size_t bytes = 0;
  CHECK(addnorm_backward_workspace(1, 4, 3, &bytes) == ADDNORM_OK && bytes == 3 * 16 * 8);
  addnorm_add_backward_args add_backward = ADDNORM_ADD_BACKWARD_ARGS_INIT;
  add_backward.rows = 1;
  add_backward.cols = 4;
  add_backward.d_sum = add.residual;
  add_backward.dx = norm.y;
  CHECK(addnorm_add_backward(&add_backward) == ADDNORM_OK);
  addnorm_norm_backward_args backward = ADDNORM_NORM_BACKWARD_ARGS_INIT;
  backward.rows = 1;
  backward.cols = 4;
  backward.dy = add.residual;
  backward.x = norm.x;
  backward.epsilon = 1e-6;
  backward.dx = norm.y;
  CHECK(addnorm_layer_norm_backward(&backward) == ADDNORM_OK);
  CHECK(addnorm_rms_norm_backward(&backward) == ADDNORM_OK);
  CHECK(addnorm_add_layer_norm_backward(&backward) == ADDNORM_OK);
  CHECK(addnorm_add_rms_norm_backward(&backward) == ADDNORM_OK);
  CHECK(addnorm_layer_norm_add_backward(&backward) == ADDNORM_OK);
  CHECK(addnorm_rms_norm_add_backward(&backward) == ADDNORM_OK);

  addnorm_dtypes dtypes;
  CHECK(addnorm_promised_dtypes(ADDNORM_OP_ADD, 0, &dtypes) == ADDNORM_OK && dtypes.y == 0);
  const char* name = addnorm_target_name();
  CHECK(name != NULL && addnorm_supported_targets(&name, 1) >= 1);
  CHECK(addnorm_version() > 0 && addnorm_numerics_version() > 0);
  return 0;
}
