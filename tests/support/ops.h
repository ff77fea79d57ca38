// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What kind of operation an addnorm_op is.
#ifndef ADDNORM_TESTS_SUPPORT_OPS_H_
#define ADDNORM_TESTS_SUPPORT_OPS_H_

#include "addnorm/addnorm.h"

namespace addnorm_test {

inline bool IsReduction(addnorm_op op) { return op < ADDNORM_OP_ADD; }
// Writes y.
inline bool IsNorm(addnorm_op op) { return op >= ADDNORM_OP_LAYER_NORM; }
// Else, where IsNorm, RMSNorm.
inline bool IsLayerNorm(addnorm_op op) {
  return op == ADDNORM_OP_LAYER_NORM || op == ADDNORM_OP_ADD_LAYER_NORM || op == ADDNORM_OP_LAYER_NORM_ADD;
}
// Add and the Add*Norm.
inline bool AddsBefore(addnorm_op op) {
  return op == ADDNORM_OP_ADD || op == ADDNORM_OP_ADD_LAYER_NORM || op == ADDNORM_OP_ADD_RMS_NORM;
}
// The *NormAdd.
inline bool AddsAfter(addnorm_op op) { return op == ADDNORM_OP_LAYER_NORM_ADD || op == ADDNORM_OP_RMS_NORM_ADD; }

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_OPS_H_
