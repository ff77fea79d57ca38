// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <limits>

#include "support/ops.h"

namespace addnorm_bench {

using addnorm_test::OpCase;
using addnorm_test::Options;
using addnorm_test::VectorType;

std::string BenchCase::OpName() const { return op_case->fields->name; }

std::string BenchCase::DtypesName() const { return op_case->name.substr(op_case->name.find('/') + 1); }

std::string BenchCase::ShapeName() const { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

std::string BenchCase::Name() const { return op_case->name + "/" + ShapeName(); }

double BenchCase::Floor() const {
  const addnorm_dtypes& d = op_case->dtypes;
  for (const addnorm_dtype dtype : {d.x, d.residual, d.sum, d.y}) {
    if (dtype != 0 && dtype != ADDNORM_F32) return std::numeric_limits<double>::infinity();
  }
  if (addnorm_test::IsNorm(op_case->op())) {
    if (ShapeName() == "512x4096") return 1.3;
    if (ShapeName() == "32x4096" || ShapeName() == "128x768") return 2.0;
  }
  return std::numeric_limits<double>::infinity();
}

std::vector<BenchCase> AllBenchCases() {
  std::vector<BenchCase> cases;
  for (const OpCase& op_case : addnorm_test::AllOpCases()) {
    for (const MatrixShape& shape : kShapes) cases.push_back({&op_case, shape});
  }
  return cases;
}

Options ModelOptions(const OpCase& op_case) {
  Options options;
  options.sum_out = true;
  if (addnorm_test::IsNorm(op_case.op())) options.gamma = VectorType::kStorage;
  if (addnorm_test::IsLayerNorm(op_case.op())) options.beta = VectorType::kStorage;
  return options;
}

}  // namespace addnorm_bench
