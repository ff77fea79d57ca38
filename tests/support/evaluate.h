// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Compares what a call wrote with the oracle, against the bounds.
#ifndef ADDNORM_TESTS_SUPPORT_EVALUATE_H_
#define ADDNORM_TESTS_SUPPORT_EVALUATE_H_

#include <cstdint>
#include <string>

#include "support/op_case.h"
#include "support/oracle.h"

namespace addnorm_test {

struct Evaluation {
  int64_t checks = 0;
  int64_t failures = 0;
  std::string first_failure;   // row, column, value and what is right
  double worst = 0.0;          // largest error of y in ULP32(M), of rows on the plain paths
  double worst_wide = 0.0;     // of rows on the wide path
  int64_t worst_row = 0;       // where `worst` is
  double worst_statistic = 0;  // largest error of a written statistic, as a part of what its bound allows

  void Merge(const Evaluation& other);
};

// After problem.Run().
Evaluation Evaluate(const Problem& problem, Oracle& oracle);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_EVALUATE_H_
