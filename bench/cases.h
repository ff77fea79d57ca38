// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What is measured: an op case of the tests' table, with a shape, data, options, and where its operands lie.
#ifndef ADDNORM_BENCH_CASES_H_
#define ADDNORM_BENCH_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/inputs.h"
#include "support/op_case.h"

namespace addnorm_bench {

struct MatrixShape {
  int64_t rows;
  int64_t cols;
};

struct BenchCase {
  const addnorm_test::OpCase* op_case = nullptr;
  MatrixShape shape = {0, 0};
  addnorm_test::Options options = {};  // of a backward case epsilon alone
  addnorm_test::DataKind data = addnorm_test::DataKind::kNormal;
  std::string label = {};  // what has this shape, as in "Llama 3.1 8B"
  bool cold = false;       // no operand is in a cache when a call begins
  bool in_place = false;   // every output is in the place of an input
  bool streaming = false;  // y is stored past the caches
  int threads = 1;         // the rows are split between so many

  std::string OpName() const;      // "add_rms_norm"
  std::string DtypesName() const;  // "f32+f32>f32>f32": x + residual > sum > y
  std::string ShapeName() const;   // "32x4096"
  std::string Variant() const;     // what else there is to say: "cold, in place, mean_far, epsilon 0, 2 threads"
  std::string Name() const;        // "add_rms_norm/f32+f32>f32>f32/32x4096", then each part of the variant
  // What the best target must reach, as a multiple of the one-pass roof; infinite where nothing is promised.
  double Floor() const;
  // Whether the outputs have the dtypes of the inputs whose place they would take.
  bool CanBeInPlace() const;

 private:
  std::vector<std::string> VariantParts() const;
};

// The op case whose operands are all of one dtype.
const addnorm_test::OpCase& UniformOpCase(addnorm_op op, addnorm_dtype dtype);

// With ModelOptions.
BenchCase MakeCase(const addnorm_test::OpCase& op_case, const MatrixShape& shape);

// What models use: gamma, LayerNorm's beta, and the sum written out. gamma and beta have the type of the 16-bit
// operands, if there are any.
addnorm_test::Options ModelOptions(const addnorm_test::OpCase& op_case);

// Of the backward cases: gamma, the statistics as f32, d_sum, and all outputs but what belongs to operands that
// ModelOptions leave out.
addnorm_test::BackwardOptions ModelBackwardOptions(const addnorm_test::OpCase& op_case, double epsilon);

// The input whose place an output takes in place; the output itself where it has none.
std::string InPlaceOf(const addnorm_test::OpCase& op_case, const std::string& output);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_CASES_H_
