// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/args.h"

#include "support/fields.h"

namespace addnorm_test {
namespace {

template <addnorm_status (*kFunction)(const addnorm_reduce_args*)>
OpFields Reduce(addnorm_op op, const char* name, const std::vector<std::string>& outputs) {
  using A = addnorm_reduce_args;
  const A initial = ADDNORM_REDUCE_ARGS_INIT;
  OpFields fields{op,
                  name,
                  CallErased<A, kFunction>,
                  sizeof(A),
                  offsetof(A, parallel),
                  offsetof(A, parallel),
                  Bytes(initial),
                  {},
                  {},
                  {},
                  {}};
  fields.operands = {{"x", offsetof(A, x), Shape::kMatrix, kRead, kRequired}};
  const OperandField all[] = {{"mean", offsetof(A, mean), Shape::kColumn, kWritten, kRequired},
                              {"variance", offsetof(A, variance), Shape::kColumn, kWritten, kRequired},
                              {"mean_square", offsetof(A, mean_square), Shape::kColumn, kWritten, kRequired},
                              {"rms", offsetof(A, rms), Shape::kColumn, kWritten, kRequired}};
  for (const OperandField& output : all) {
    bool used = false;
    for (const std::string& wanted : outputs) used |= wanted == output.name;
    (used ? fields.operands : fields.unused).push_back(output);
  }
  return fields;
}

OpFields Add() {
  using A = addnorm_add_args;
  const A initial = ADDNORM_ADD_ARGS_INIT;
  return {ADDNORM_OP_ADD,
          "add",
          CallErased<A, addnorm_add>,
          sizeof(A),
          offsetof(A, bias),
          offsetof(A, parallel),
          Bytes(initial),
          {{"x", offsetof(A, x), Shape::kMatrix, kRead, kRequired},
           {"residual", offsetof(A, residual), Shape::kMatrix, kRead, kRequired},
           {"sum_out", offsetof(A, sum_out), Shape::kMatrix, kWritten, kRequired},
           {"bias", offsetof(A, bias), Shape::kVector, kRead, kOptional}},
          {},
          {ResidualScale(offsetof(A, residual_scale))},
          {},
          0,
          offsetof(A, store),
          0,
          offsetof(A, dropout)};
}

// What the three structs with a norm have in common.
template <class A>
OpFields NormFields(addnorm_op op, const char* name, addnorm_status (*call)(const void*), bool has_mean, A initial) {
  initial.epsilon = 1e-5;
  OpFields fields{
      op, name, call, sizeof(A), offsetof(A, epsilon) + sizeof(double), offsetof(A, parallel), Bytes(initial),
      {}, {},   {},   {}};
  fields.operands = {{"x", offsetof(A, x), Shape::kMatrix, kRead, kRequired},
                     {"y", offsetof(A, y), Shape::kMatrix, kWritten, kRequired},
                     {"gamma", offsetof(A, gamma), Shape::kVector, kRead, kOptional},
                     {"beta", offsetof(A, beta), Shape::kVector, kRead, kOptional},
                     {"rstd", offsetof(A, rstd), Shape::kColumn, kWritten, kOptional}};
  (has_mean ? fields.operands : fields.unused)
      .push_back({"mean", offsetof(A, mean), Shape::kColumn, kWritten, kOptional});
  fields.numbers = {Epsilon(offsetof(A, epsilon)), GammaOffset(offsetof(A, gamma_offset))};
  fields.dtypes = {{"norm_dtype", offsetof(A, norm_dtype)}};
  fields.store = offsetof(A, store);
  fields.reserved = offsetof(A, reserved);
  return fields;
}

template <addnorm_status (*kFunction)(const addnorm_norm_args*)>
OpFields Norm(addnorm_op op, const char* name, bool has_mean) {
  using A = addnorm_norm_args;
  return NormFields<A>(op, name, CallErased<A, kFunction>, has_mean, ADDNORM_NORM_ARGS_INIT);
}

template <addnorm_status (*kFunction)(const addnorm_add_norm_args*)>
OpFields AddNorm(addnorm_op op, const char* name, bool has_mean) {
  using A = addnorm_add_norm_args;
  OpFields fields = NormFields<A>(op, name, CallErased<A, kFunction>, has_mean, ADDNORM_ADD_NORM_ARGS_INIT);
  fields.operands.push_back({"residual", offsetof(A, residual), Shape::kMatrix, kRead, kRequired});
  fields.operands.push_back({"sum_out", offsetof(A, sum_out), Shape::kMatrix, kWritten, kOptional});
  fields.operands.push_back({"bias", offsetof(A, bias), Shape::kVector, kRead, kOptional});
  fields.numbers.push_back(ResidualScale(offsetof(A, residual_scale)));
  fields.dtypes.push_back({"sum_dtype", offsetof(A, sum_dtype)});
  fields.dropout = offsetof(A, dropout);
  return fields;
}

template <addnorm_status (*kFunction)(const addnorm_norm_add_args*)>
OpFields NormAdd(addnorm_op op, const char* name, bool has_mean) {
  using A = addnorm_norm_add_args;
  OpFields fields = NormFields<A>(op, name, CallErased<A, kFunction>, has_mean, ADDNORM_NORM_ADD_ARGS_INIT);
  fields.operands.push_back({"residual", offsetof(A, residual), Shape::kMatrix, kRead, kRequired});
  fields.numbers.push_back(ResidualScale(offsetof(A, residual_scale)));
  fields.dtypes.push_back({"norm_out_dtype", offsetof(A, norm_out_dtype)});
  return fields;
}

}  // namespace

const std::vector<OpFields>& AllOpFields() {
  static const std::vector<OpFields> all = {
      Reduce<addnorm_mean>(ADDNORM_OP_MEAN, "mean", {"mean"}),
      Reduce<addnorm_variance>(ADDNORM_OP_VARIANCE, "variance", {"variance"}),
      Reduce<addnorm_mean_variance>(ADDNORM_OP_MEAN_VARIANCE, "mean_variance", {"mean", "variance"}),
      Reduce<addnorm_mean_square>(ADDNORM_OP_MEAN_SQUARE, "mean_square", {"mean_square"}),
      Reduce<addnorm_rms>(ADDNORM_OP_RMS, "rms", {"rms"}),
      Add(),
      Norm<addnorm_layer_norm>(ADDNORM_OP_LAYER_NORM, "layer_norm", true),
      Norm<addnorm_rms_norm>(ADDNORM_OP_RMS_NORM, "rms_norm", false),
      AddNorm<addnorm_add_layer_norm>(ADDNORM_OP_ADD_LAYER_NORM, "add_layer_norm", true),
      AddNorm<addnorm_add_rms_norm>(ADDNORM_OP_ADD_RMS_NORM, "add_rms_norm", false),
      NormAdd<addnorm_layer_norm_add>(ADDNORM_OP_LAYER_NORM_ADD, "layer_norm_add", true),
      NormAdd<addnorm_rms_norm_add>(ADDNORM_OP_RMS_NORM_ADD, "rms_norm_add", false)};
  return all;
}

std::vector<addnorm_dtypes> PromisedDtypes(addnorm_op op) {
  std::vector<addnorm_dtypes> promised;
  addnorm_dtypes dtypes = {};
  for (int32_t i = 0; addnorm_promised_dtypes(op, i, &dtypes) == ADDNORM_OK; ++i) promised.push_back(dtypes);
  return promised;
}

bool OpFields::drops_out() const {
  switch (op) {
    case ADDNORM_OP_ADD:
    case ADDNORM_OP_ADD_LAYER_NORM:
    case ADDNORM_OP_ADD_RMS_NORM:
    case ADDNORM_OP_ADD_BACKWARD:
    case ADDNORM_OP_ADD_LAYER_NORM_BACKWARD:
    case ADDNORM_OP_ADD_RMS_NORM_BACKWARD:
      return true;
    default:
      return false;
  }
}

const OperandField* OpFields::Find(const std::string& operand) const {
  for (const OperandField& field : operands) {
    if (operand == field.name) return &field;
  }
  return nullptr;
}

Args::Args(const OpFields& op) : op_(&op) { std::memcpy(bytes_, op.initial.data(), op.initial.size()); }

void Args::Set(const NumberField& field, double value) {
  if (field.is_double) {
    Store(field.offset, value);
  } else {
    Store(field.offset, static_cast<float>(value));
  }
}

}  // namespace addnorm_test
