// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The argument structs of training.h as data.
#include "addnorm/training.h"
#include "support/args.h"
#include "support/fields.h"

namespace addnorm_test {
namespace {

OpFields AddBackward() {
  using A = addnorm_add_backward_args;
  using D = addnorm_dtypes;
  const A initial = ADDNORM_ADD_BACKWARD_ARGS_INIT;
  OpFields fields{ADDNORM_OP_ADD_BACKWARD,
                  "add_backward",
                  CallErased<A, addnorm_add_backward>,
                  sizeof(A),
                  offsetof(A, dx),
                  offsetof(A, parallel),
                  Bytes(initial),
                  {{"d_sum", offsetof(A, d_sum), Shape::kMatrix, kRead, kRequired, &D::sum},
                   {"dx", offsetof(A, dx), Shape::kMatrix, kWritten, kOptional, &D::x},
                   {"d_residual", offsetof(A, d_residual), Shape::kMatrix, kWritten, kOptional, &D::residual},
                   {"dbias", offsetof(A, dbias), Shape::kVector, kWritten, kOptional}},
                  {},
                  {ResidualScale(offsetof(A, residual_scale))},
                  {},
                  offsetof(A, workspace)};
  fields.dropout = offsetof(A, dropout);
  return fields;
}

enum class Placement { kNorm, kAddNorm, kNormAdd };

template <addnorm_status (*kFunction)(const addnorm_norm_backward_args*)>
OpFields NormBackward(addnorm_op op, const char* name, bool has_mean, Placement placement) {
  using A = addnorm_norm_backward_args;
  using D = addnorm_dtypes;
  A initial = ADDNORM_NORM_BACKWARD_ARGS_INIT;
  initial.epsilon = 1e-5;
  OpFields fields{
      op, name, CallErased<A, kFunction>, sizeof(A), offsetof(A, gamma), offsetof(A, parallel), Bytes(initial), {}, {},
      {}, {},   offsetof(A, workspace)};
  const bool adds_before = placement == Placement::kAddNorm;
  fields.operands = {
      {"dy", offsetof(A, dy), Shape::kMatrix, kRead, kRequired, &D::y},
      {"x", offsetof(A, x), Shape::kMatrix, kRead, kRequired, adds_before ? &D::sum : &D::x},
      {"gamma", offsetof(A, gamma), Shape::kVector, kRead, kOptional},
      {"rstd", offsetof(A, rstd), Shape::kColumn, kRead, kOptional},
      {"dx", offsetof(A, dx), Shape::kMatrix, kWritten, kOptional, &D::x},
      {"dgamma", offsetof(A, dgamma), Shape::kVector, kWritten, kOptional},
      {"dbeta", offsetof(A, dbeta), Shape::kVector, kWritten, kOptional},
  };
  const auto add = [&](bool used, const OperandField& field) {
    (used ? fields.operands : fields.unused).push_back(field);
  };
  add(has_mean, {"mean", offsetof(A, mean), Shape::kColumn, kRead, kOptional});
  add(adds_before, {"d_sum", offsetof(A, d_sum), Shape::kMatrix, kRead, kOptional, &D::sum});
  add(adds_before, {"dbias", offsetof(A, dbias), Shape::kVector, kWritten, kOptional});
  add(placement != Placement::kNorm,
      {"d_residual", offsetof(A, d_residual), Shape::kMatrix, kWritten, kOptional, &D::residual});
  fields.numbers = {Epsilon(offsetof(A, epsilon)), GammaOffset(offsetof(A, gamma_offset)),
                    ResidualScale(offsetof(A, residual_scale))};
  fields.dropout = offsetof(A, dropout);
  return fields;
}

}  // namespace

const std::vector<OpFields>& BackwardOpFields() {
  constexpr Placement kNorm = Placement::kNorm, kAddNorm = Placement::kAddNorm, kNormAdd = Placement::kNormAdd;
  static const std::vector<OpFields> all = {
      AddBackward(),
      NormBackward<addnorm_layer_norm_backward>(ADDNORM_OP_LAYER_NORM_BACKWARD, "layer_norm_backward", true, kNorm),
      NormBackward<addnorm_rms_norm_backward>(ADDNORM_OP_RMS_NORM_BACKWARD, "rms_norm_backward", false, kNorm),
      NormBackward<addnorm_add_layer_norm_backward>(ADDNORM_OP_ADD_LAYER_NORM_BACKWARD, "add_layer_norm_backward", true,
                                                    kAddNorm),
      NormBackward<addnorm_add_rms_norm_backward>(ADDNORM_OP_ADD_RMS_NORM_BACKWARD, "add_rms_norm_backward", false,
                                                  kAddNorm),
      NormBackward<addnorm_layer_norm_add_backward>(ADDNORM_OP_LAYER_NORM_ADD_BACKWARD, "layer_norm_add_backward", true,
                                                    kNormAdd),
      NormBackward<addnorm_rms_norm_add_backward>(ADDNORM_OP_RMS_NORM_ADD_BACKWARD, "rms_norm_add_backward", false,
                                                  kNormAdd)};
  return all;
}

}  // namespace addnorm_test
