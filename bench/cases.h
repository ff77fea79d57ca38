// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What is measured: every op case of the tests' table, over a list of shapes.
#ifndef ADDNORM_BENCH_CASES_H_
#define ADDNORM_BENCH_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/op_case.h"

namespace addnorm_bench {

struct MatrixShape {
  int64_t rows;
  int64_t cols;
};

// From one token of a large model, in the first-level cache, to matrices beyond all caches of a core; models with short
// rows (128 and 64 are heads of QK norm).
constexpr MatrixShape kShapes[] = {{1, 4096},   {32, 4096},  {128, 768}, {197, 1024},
                                   {512, 4096}, {4096, 128}, {1024, 64}};

struct BenchCase {
  const addnorm_test::OpCase* op_case;
  MatrixShape shape;

  std::string OpName() const;      // "add_rms_norm"
  std::string DtypesName() const;  // "f32+f32>f32>f32": x + residual > sum > y
  std::string ShapeName() const;   // "32x4096"
  std::string Name() const;        // "add_rms_norm/f32+f32>f32>f32/32x4096"
  // What the best target must reach, as a multiple of the one-pass roof; infinite where nothing is promised.
  double Floor() const;
};

// All of them, in the library's order.
std::vector<BenchCase> AllBenchCases();

// What models use: gamma, LayerNorm's beta, and the sum written out. gamma and beta have the type of the 16-bit
// operands, if there are any.
addnorm_test::Options ModelOptions(const addnorm_test::OpCase& op_case);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_CASES_H_
