/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * One call with a known answer, for programs that ask when and from where a call may be made. */
#ifndef ADDNORM_TESTS_LIFETIME_CALL_H_
#define ADDNORM_TESTS_LIFETIME_CALL_H_

#include <stdlib.h>
#include <string.h>

#include "addnorm/addnorm.h"

/* 1 if LayerNorm of 1, 2, 3, 4 is right. */
static inline int LayerNormIsRight(addnorm_status (*layer_norm)(const addnorm_norm_args*)) {
  static const float x[4] = {1, 2, 3, 4};
  static const float exact[4] = {-1.34163547f, -0.44721183f, 0.44721183f, 1.34163547f};
  float y[4] = {0, 0, 0, 0};
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  int right, i;
  args.rows = 1;
  args.cols = 4;
  args.x.data = x;
  args.x.dtype = ADDNORM_F32;
  args.y.data = y;
  args.y.dtype = ADDNORM_F32;
  args.epsilon = 1e-5;
  right = layer_norm(&args) == ADDNORM_OK;
  for (i = 0; i < 4; ++i) right = right && y[i] > exact[i] - 1e-6f && y[i] < exact[i] + 1e-6f;
  return right;
}

/* 1 if it is the target that an ordinary program gets, as with_target.c found out: what is asked of the CPU too early
 * would be the scalar reference. */
static inline int IsExpectedTarget(const char* name) {
  const char* expected = getenv("ADDNORM_EXPECT_CHOICE");
  return expected != NULL && strcmp(name, expected) == 0;
}

/* The call is first, so that it can be the one that chooses. */
static inline int CallIsRight(void) {
  return LayerNormIsRight(&addnorm_layer_norm) && IsExpectedTarget(addnorm_target_name());
}

#endif /* ADDNORM_TESTS_LIFETIME_CALL_H_ */
