// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Worked examples: rows written out in a test, run on every target and held against the oracle.
#ifndef ADDNORM_TESTS_SUPPORT_EXAMPLES_H_
#define ADDNORM_TESTS_SUPPORT_EXAMPLES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/equal_bits.h"
#include "support/evaluate.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {

using Rows = std::vector<std::vector<float>>;

// The case of an operation whose operands all have one dtype.
inline const OpCase& Uniform(addnorm_op op, addnorm_dtype dtype) {
  const bool residual = AddsBefore(op) || AddsAfter(op);
  return FindOpCase(op, {dtype, residual ? dtype : 0, AddsBefore(op) ? dtype : 0, IsNorm(op) ? dtype : 0, 0});
}

inline std::vector<float> Constant(int64_t cols, float value) {
  return std::vector<float>(static_cast<size_t>(cols), value);
}

// The only column count of the rows.
inline Problem Example(const OpCase& op_case, const Rows& x, const Options& options = Options(),
                       const Rows& residual = {}) {
  Problem problem(op_case, options, static_cast<int64_t>(x.size()), static_cast<int64_t>(x[0].size()));
  for (size_t row = 0; row < x.size(); ++row) {
    problem.Set(kX, static_cast<int64_t>(row), x[row]);
    if (!residual.empty()) problem.Set(kResidual, static_cast<int64_t>(row), residual[row]);
  }
  return problem;
}

inline std::vector<double> Written(const Problem& problem, Operand output, int64_t row = 0) {
  const bool column = output != kY && output != kSumOut;
  std::vector<double> values;
  for (int64_t col = 0; col < (column ? 1 : problem.cols()); ++col) values.push_back(problem.Get(output, row, col));
  return values;
}

// Calls check(problem, target) after a run on each target that is within all bounds and equal to the scalar reference.
template <class Check>
void OnEveryTarget(Problem& problem, const Check& check) {
  Oracle oracle;
  const std::string wanted = RunOn("scalar", problem);
  for (const std::string& target : TestedTargets()) {
    EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
    const Evaluation evaluation = Evaluate(problem, oracle);
    EXPECT_EQ(evaluation.failures, 0) << "on " << target << ": " << evaluation.first_failure;
    CountChecks(target, evaluation.checks);
    check(problem, target);
  }
}

// Every element of an output is `value`.
inline void ExpectAll(const Problem& problem, Operand output, double value, const std::string& target) {
  for (int64_t row = 0; row < problem.rows(); ++row) {
    for (const double v : Written(problem, output, row)) ASSERT_EQ(v, value) << "row " << row << " on " << target;
  }
}

// `digits` as printed in the literature: equal to that many significant digits.
inline void ExpectNear(const std::vector<double>& got, const std::vector<double>& wanted, double relative,
                       const std::string& target) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], std::max(1e-30, std::abs(wanted[i]) * relative))
        << "element " << i << " on " << target;
  }
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_EXAMPLES_H_
