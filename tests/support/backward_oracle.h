// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What a backward call must give: the formulas of training.h in MPFR, from the stored inputs, and the comparison with
// what a call wrote. Nothing of how the kernels compute.
#ifndef ADDNORM_TESTS_SUPPORT_BACKWARD_ORACLE_H_
#define ADDNORM_TESTS_SUPPORT_BACKWARD_ORACLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/numbers.h"
#include "support/oracle.h"

namespace addnorm_test {

// The operands of one row of a norm's backward, exact.
struct BackwardRow {
  bool layer_norm = true;
  double epsilon = 0.0;
  std::vector<double> x, dy, gamma;  // gamma with its offset
  // The statistics to take; without them they are computed exactly.
  bool given = false;
  double mean = 0.0, rstd = 0.0;
};

struct BackwardRowResult {
  std::vector<Exact> n;           // the gradient of what was normalized, before it is rounded
  std::vector<double> magnitude;  // M of its bound
  std::vector<Exact> t;           // the normalized value
  double mean_over_spread = 0.0;  // |mean| * rstd, exact statistics only
};

class BackwardOracle {
 public:
  BackwardOracle();
  ~BackwardOracle();
  // The result stays valid until the next call.
  const BackwardRowResult& Compute(const BackwardRow& row);

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
  BackwardRowResult result_;
};

struct BackwardEvaluation {
  int64_t checks = 0, failures = 0;
  std::string first_failure;
  double worst = 0.0;       // error of f32 dx against the exact gradient for the statistics it took, in ULP32(M)
  double worst_true = 0.0;  // the same with exact statistics, where they were recomputed
  double worst_sum = 0.0;   // error of an f64 dgamma or dbeta as a part of what its bound allows
};

// After problem.Run(), of rows that are finite. Checks all outputs.
BackwardEvaluation Evaluate(const BackwardProblem& problem, BackwardOracle& oracle);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_BACKWARD_ORACLE_H_
