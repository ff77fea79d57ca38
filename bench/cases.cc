// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include "support/ops.h"

namespace addnorm_bench {

using addnorm_test::OpCase;
using addnorm_test::Options;
using addnorm_test::VectorType;

std::string BenchCase::OpName() const { return op_case->fields->name; }

std::string BenchCase::DtypesName() const { return op_case->name.substr(op_case->name.find('/') + 1); }

std::string BenchCase::ShapeName() const { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

std::string BenchCase::Name() const { return op_case->name + "/" + ShapeName(); }

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
