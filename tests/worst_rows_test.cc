// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The rows with the largest errors that the search has found (tests/search), again on every target: the bits are equal,
// the errors those of docs/NUMERICS.md and within their bounds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "search/measure.h"
#include "search/row.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

struct WorstRow {
  double error = 0.0;  // when it was found
  size_t at = 0;       // of the element with that error
  Row row;
};

const OpCase* FindUniform(const std::string& op, const std::string& dtype) {
  for (const OpCase& op_case : AllOpCases()) {
    const addnorm_dtypes& d = op_case.dtypes;
    const auto is = [&](addnorm_dtype other) { return other == 0 || dtype == DtypeName(other); };
    if (op == op_case.fields->name && is(d.x) && is(d.residual) && is(d.sum) && is(d.y)) return &op_case;
  }
  return nullptr;
}

// A line of worst_rows.txt, as RowText() writes it behind the error.
WorstRow Parse(const std::string& line) {
  WorstRow worst;
  std::istringstream in(line);
  std::string op, dtype, word, epsilon, scale;
  in >> worst.error >> op >> dtype >> word >> worst.at >> word >> epsilon >> word >> scale;
  Row& row = worst.row;
  row.op_case = FindUniform(op, dtype);
  if (row.op_case == nullptr) return worst;
  row.epsilon = std::strtod(epsilon.c_str(), nullptr);
  row.residual_scale = std::strtof(scale.c_str(), nullptr);
  std::map<std::string, std::vector<uint32_t>> operands;
  std::string name;
  while (in >> word) {
    if (word == "x" || word == "gamma" || word == "beta" || word == "residual") {
      name = word;
    } else {
      operands[name].push_back(static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
    }
  }
  const size_t cols = operands["x"].size();
  const auto fill = [&](const char* operand, addnorm_dtype type, Elements* to) {
    const std::vector<uint32_t>& bits = operands[operand];
    *to = Elements(type);
    if (bits.empty()) return;
    to->Resize(cols);
    // One element stands for all where only that of the error matters.
    for (size_t i = 0; i < cols; ++i) to->SetBits(i, bits[bits.size() == cols ? i : 0]);
  };
  fill("x", row.op_case->dtypes.x, &row.x);
  fill("residual", row.op_case->dtypes.x, &row.residual);
  fill("gamma", ADDNORM_F32, &row.gamma);
  fill("beta", ADDNORM_F32, &row.beta);
  return worst;
}

TEST(WorstRows, HaveTheErrorsThatTheSearchFound) {
  std::ifstream file(ADDNORM_TEST_DATA "/search/worst_rows.txt");
  std::string line;
  Caller caller;
  int rows = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    const WorstRow worst = Parse(line);
    ASSERT_NE(worst.row.op_case, nullptr) << line;
    ASSERT_LT(worst.at, worst.row.cols()) << line;
    ++rows;
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      Result result;
      caller.Run(worst.row, &result);
      const ExactMeasure measure = MeasureExactly(worst.row, result, worst.at);
      EXPECT_LE(measure.error, measure.bound) << line;
      EXPECT_NEAR(measure.error, worst.error, 1e-4) << line;
      CountChecks(target, 1);
    }
  }
  EXPECT_GT(rows, 30);
}

}  // namespace
}  // namespace addnorm_test
