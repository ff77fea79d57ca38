// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <limits>

#include "support/ops.h"

namespace addnorm_bench {

using addnorm_test::BackwardOptions;
using addnorm_test::DataKind;
using addnorm_test::OpCase;
using addnorm_test::Options;
using addnorm_test::VectorType;

std::string BenchCase::OpName() const { return op_case->fields->name; }

std::string BenchCase::DtypesName() const { return op_case->name.substr(op_case->name.find('/') + 1); }

std::string BenchCase::ShapeName() const { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

std::vector<std::string> BenchCase::VariantParts() const {
  std::vector<std::string> parts;
  if (!label.empty()) parts.push_back(label);
  if (cold) parts.push_back("cold");
  if (in_place) parts.push_back("in place");
  if (streaming) parts.push_back("streaming");
  if (data != DataKind::kNormal) parts.push_back(addnorm_test::DataKindName(data));
  if (options.dropout.present()) parts.push_back("dropout");
  if (options.epsilon == 0) parts.push_back("epsilon 0");
  if (threads > 1) parts.push_back(std::to_string(threads) + " threads");
  return parts;
}

std::string BenchCase::Variant() const {
  std::string all;
  for (const std::string& part : VariantParts()) all += (all.empty() ? "" : ", ") + part;
  return all;
}

std::string BenchCase::Name() const {
  std::string name = op_case->name + "/" + ShapeName();
  for (const std::string& part : VariantParts()) name += "/" + part;
  return name;
}

double BenchCase::Floor() const {
  const addnorm_dtypes& d = op_case->dtypes;
  for (const addnorm_dtype dtype : {d.x, d.residual, d.sum, d.y}) {
    if (dtype != 0 && dtype != ADDNORM_F32) return std::numeric_limits<double>::infinity();
  }
  if (addnorm_test::IsNorm(op_case->op()) && !op_case->fields->is_backward() && Variant().empty()) {
    if (ShapeName() == "512x4096") return 1.3;
    if (ShapeName() == "32x4096" || ShapeName() == "128x768") return 2.0;
  }
  return std::numeric_limits<double>::infinity();
}

bool BenchCase::CanBeInPlace() const {
  if (addnorm_test::IsReduction(op_case->op()) || op_case->fields->is_backward()) return false;
  const addnorm_dtypes& d = op_case->dtypes;
  const auto dtype = [&](const std::string& operand) {
    return operand == "x" ? d.x : operand == "residual" ? d.residual : operand == "sum_out" ? d.sum : d.y;
  };
  for (const char* const output : {"sum_out", "y"}) {
    if (dtype(output) != dtype(InPlaceOf(*op_case, output))) return false;
  }
  return true;
}

const OpCase& UniformOpCase(addnorm_op op, addnorm_dtype dtype) {
  const std::vector<OpCase>& all =
      op >= ADDNORM_OP_ADD_BACKWARD ? addnorm_test::AllBackwardCases() : addnorm_test::AllOpCases();
  return *std::find_if(all.begin(), all.end(), [&](const OpCase& c) {
    const addnorm_dtypes& d = c.dtypes;
    const auto same = [&](addnorm_dtype other) { return other == 0 || other == dtype; };
    return c.op() == op && d.x == dtype && same(d.residual) && same(d.sum) && same(d.y);
  });
}

BenchCase MakeCase(const OpCase& op_case, const MatrixShape& shape) {
  BenchCase made;
  made.op_case = &op_case;
  made.shape = shape;
  if (!op_case.fields->is_backward()) made.options = ModelOptions(op_case);
  return made;
}

Options ModelOptions(const OpCase& op_case) {
  Options options;
  options.sum_out = true;
  if (addnorm_test::IsNorm(op_case.op())) options.gamma = VectorType::kStorage;
  if (addnorm_test::IsLayerNorm(op_case.op())) options.beta = VectorType::kStorage;
  return options;
}

BackwardOptions ModelBackwardOptions(const OpCase& op_case, double epsilon) {
  BackwardOptions options;
  options.gamma = VectorType::kStorage;
  options.epsilon = epsilon;
  options.saved = ADDNORM_F32;
  options.dbeta = addnorm_test::IsBackwardOfLayerNorm(op_case.op());
  options.dbias = false;
  return options;
}

std::string InPlaceOf(const OpCase& op_case, const std::string& output) {
  const addnorm_op op = op_case.op();
  if (output == "sum_out" && addnorm_test::AddsBefore(op)) return "residual";
  if (output == "y" && addnorm_test::IsNorm(op)) return addnorm_test::AddsAfter(op) ? "residual" : "x";
  return output;
}

}  // namespace addnorm_bench
