// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The options that tests and benchmarks combine with each op case.
#include "support/op_case.h"

namespace addnorm_test {
namespace {

std::vector<Options> ReductionOptions() {
  Options f64, f32;
  f64.name = "f64";
  f32.name = "f32";
  f32.statistics = ADDNORM_F32;
  return {f64, f32};
}

std::vector<Options> AddOptions() {
  Options plain, bias, scaled;
  plain.name = "plain";
  bias.name = "bias";
  bias.bias = VectorType::kF32;
  scaled.name = "bias_scaled";
  scaled.bias = VectorType::kStorage;
  scaled.residual_scale = 2.8284271f;
  return {plain, bias, scaled};
}

}  // namespace

std::vector<Options> OptionsOf(const OpCase& op_case) {
  const addnorm_op op = op_case.op();
  if (IsReduction(op)) return ReductionOptions();
  if (op == ADDNORM_OP_ADD) return AddOptions();

  const addnorm_dtype half = op_case.dtypes.vectors == ADDNORM_F16 ? ADDNORM_F16 : ADDNORM_BF16;
  const addnorm_dtype other_half = half == ADDNORM_F16 ? ADDNORM_BF16 : ADDNORM_F16;
  const addnorm_dtype mean = IsLayerNorm(op) ? ADDNORM_F64 : 0;

  std::vector<Options> all;
  Options o;
  o.name = "plain";
  all.push_back(o);

  o = Options();
  o.name = "affine";
  o.gamma = VectorType::kF32;
  o.beta = VectorType::kStorage;
  o.bias = VectorType::kStorage;
  o.mean = mean;
  o.rstd = ADDNORM_F64;
  all.push_back(o);

  o = Options();
  o.name = "gemma";
  o.gamma = VectorType::kStorage;
  o.gamma_offset = 1.0f;
  o.epsilon = 1e-6;
  o.sum_out = false;
  all.push_back(o);

  o = Options();
  o.name = "extreme";
  o.gamma = VectorType::kF32;
  o.beta = VectorType::kF32;
  o.vectors = VectorKind::kExtreme;
  o.epsilon = 0.0;
  o.mean = mean == 0 ? 0 : ADDNORM_F32;
  o.rstd = ADDNORM_F32;
  all.push_back(o);

  o = Options();
  o.name = "extreme_gamma";
  o.gamma = VectorType::kStorage;
  o.vectors = VectorKind::kExtreme;
  o.epsilon = 0.0;
  o.residual_scale = -0.5f;
  all.push_back(o);

  o = Options();
  o.name = "llama";
  o.gamma = VectorType::kStorage;
  o.norm_dtype = half;
  o.norm_out_dtype = half;
  all.push_back(o);

  o = Options();
  o.name = "rounded";
  o.gamma = VectorType::kF32;
  o.beta = VectorType::kF32;
  o.bias = VectorType::kF32;
  o.gamma_offset = -0.25f;
  o.epsilon = 0.0;
  o.norm_dtype = other_half;
  o.norm_out_dtype = other_half;
  o.residual_scale = 3.0f;
  all.push_back(o);

  o = Options();
  o.name = "beta";
  o.beta = VectorType::kStorage;
  o.bias = VectorType::kF32;
  o.epsilon = 0.1;
  o.residual_scale = 2.8284271f;
  o.norm_out_dtype = ADDNORM_F32;
  all.push_back(o);
  return all;
}

std::vector<Options> DropoutOptionsOf(const OpCase& op_case) {
  std::vector<Options> all;
  if (!op_case.fields->drops_out()) return all;
  const std::vector<Options> plain = OptionsOf(op_case);
  Options o = plain[0];
  o.name = "dropout";
  o.dropout.probability = 0.1;
  o.dropout.masks = Masks::kWritten;
  all.push_back(o);

  o = plain[1];  // with a bias, and all that can be written
  o.name = "dropout_" + o.name;
  o.dropout.probability = 0.5;
  o.dropout.first_row = 0xfffffffeu;
  all.push_back(o);

  o = plain.back();  // residual_scale
  o.name = "dropout_" + o.name;
  o.sum_out = false;
  o.dropout.probability = 0.75;
  o.dropout.masks = Masks::kGivenAndWritten;
  all.push_back(o);
  return all;
}

}  // namespace addnorm_test
