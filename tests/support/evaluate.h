// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Compares what a call wrote with the oracle, against the bounds.
#ifndef ADDNORM_TESTS_SUPPORT_EVALUATE_H_
#define ADDNORM_TESTS_SUPPORT_EVALUATE_H_

#include <array>
#include <cstdint>
#include <string>

#include "support/args.h"
#include "support/dtype.h"
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

// The outputs of a call, wherever they lie.
struct CallOutputs {
  // Names are for messages and are not copied.
  CallOutputs(const Args& args, const char* case_name, const char* options_name);

  bool Has(Operand operand) const { return at[operand].data != nullptr; }
  double Get(Operand operand, int64_t row, int64_t col) const {
    const addnorm_output& output = at[operand];
    return LoadValue(output.data, (rows > 1 ? row * output.row_stride : 0) + col, output.dtype);
  }

  addnorm_op op;
  int64_t rows, cols;
  std::array<addnorm_output, kOperands> at = {};
  const char* case_name;
  const char* options_name;
};

// Adds what there is to say about one row.
void EvaluateRow(const CallOutputs& written, int64_t row, const OracleResult& right, Evaluation* result);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_EVALUATE_H_
