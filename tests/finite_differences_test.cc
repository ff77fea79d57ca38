// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Every gradient of every operation, and the oracle's, against central differences of a loss,
// sum(dy * y) + sum(d_sum * s), whose forward pass is written out here in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/backward_oracle.h"
#include "support/bounds.h"
#include "support/inputs.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

constexpr int64_t kRows = 3, kCols = 13;
using Values = std::vector<long double>;
using Parameters = std::map<std::string, Values>;

// What a step of the loss keeps as it is.
struct Loss {
  // What is normalized.
  Values Row(const Parameters& p, int64_t row) const {
    const size_t begin = static_cast<size_t>(row * kCols);
    Values s(p.at("x").begin() + row * kCols, p.at("x").begin() + (row + 1) * kCols);
    for (size_t i = 0; adds_before && i < s.size(); ++i) {
      const bool kept = !options.dropout.present() || options.dropout.IsKept(row, static_cast<int64_t>(i));
      s[i] = kept ? (s[i] + p.at("bias")[i]) * dropout_scale : 0.0L;
      s[i] += residual_scale * p.at("residual")[begin + i];
    }
    return s;
  }

  long double operator()(const Parameters& p) const {
    long double loss = 0.0L;
    for (int64_t row = 0; row < rows; ++row) {
      const size_t begin = static_cast<size_t>(row * kCols);
      const Values s = Row(p, row);
      for (size_t i = 0; adds_before && i < s.size(); ++i) loss += d_sum[begin + i] * s[i];
      if (!normalizes) continue;
      long double mean = 0.0L, square = 0.0L;
      for (const long double v : s) mean += layer_norm ? v / kCols : 0.0L;
      for (const long double v : s) square += (v - mean) * (v - mean) / kCols;
      const long double rstd = 1.0L / std::sqrt(square + static_cast<long double>(options.epsilon));
      for (size_t i = 0; i < s.size(); ++i) {
        const long double gamma = p.at("gamma")[i] + static_cast<long double>(options.gamma_offset);
        loss += dy[begin + i] * ((s[i] - mean) * rstd * gamma + p.at("beta")[i]);
        if (adds_after) loss += dy[begin + i] * residual_scale * p.at("residual")[begin + i];
      }
    }
    return loss;
  }

  BackwardOptions options;
  int64_t rows = kRows;
  bool adds_before = false, normalizes = false, layer_norm = false, adds_after = false;
  long double residual_scale = 1.0L, dropout_scale = 1.0L;
  Values dy, d_sum;
};

// Central differences by each element of a parameter.
std::vector<double> Slopes(const Loss& loss, Parameters p, const std::string& parameter) {
  constexpr long double kStep = 0x1p-20L;
  std::vector<double> slopes;
  for (long double& value : p[parameter]) {
    const long double middle = value;
    value = middle + kStep;
    const long double above = loss(p);
    value = middle - kStep;
    slopes.push_back(static_cast<double>((above - loss(p)) / (2 * kStep)));
    value = middle;
  }
  return slopes;
}

void Check(const OpCase& op_case, const BackwardOptions& options) {
  const addnorm_op op = op_case.op();
  Loss loss;
  loss.options = options;
  loss.normalizes = op != ADDNORM_OP_ADD_BACKWARD;
  loss.adds_before = !loss.normalizes || IsBackwardOfAddNorm(op);
  loss.adds_after = IsBackwardOfNormAdd(op);
  loss.layer_norm = IsBackwardOfLayerNorm(op);
  loss.residual_scale = static_cast<long double>(options.residual_scale);
  if (options.dropout.present()) loss.dropout_scale = static_cast<long double>(options.dropout.Scale());
  // Few digits, and scales that are powers of two: the sum that the forward pass rounds is exact.
  Rng rng(static_cast<uint64_t>(op));
  const auto random = [&rng](int64_t count) {
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(std::floor(static_cast<long double>(rng.Normal()) * 0x1p-11L) * 0x1p-10L);
    }
    return values;
  };
  Parameters p = {{"x", random(kRows * kCols)},
                  {"residual", random(kRows * kCols)},
                  {"gamma", random(kCols)},
                  {"beta", random(kCols)},
                  {"bias", random(kCols)}};
  loss.dy = random(kRows * kCols);
  loss.d_sum = random(kRows * kCols);

  BackwardProblem problem(op_case, options, kRows, kCols);
  for (int64_t row = 0; row < kRows; ++row) {
    const Values s = loss.Row(p, row);
    for (int64_t col = 0; col < kCols; ++col) {
      const size_t at = static_cast<size_t>(row * kCols + col);
      if (problem.Has("x")) problem.Set("x", row, col, static_cast<double>(s[static_cast<size_t>(col)]));
      if (problem.Has("dy")) problem.Set("dy", row, col, static_cast<double>(loss.dy[at]));
      if (problem.Has("d_sum")) problem.Set("d_sum", row, col, static_cast<double>(loss.d_sum[at]));
      if (row == 0 && problem.Has("gamma")) {
        problem.Set("gamma", 0, col, static_cast<double>(p["gamma"][static_cast<size_t>(col)]));
      }
    }
  }
  ASSERT_EQ(problem.Run(), ADDNORM_OK) << op_case.name;
  const std::map<std::string, std::string> gradients = {
      {"x", "dx"}, {"residual", "d_residual"}, {"gamma", "dgamma"}, {"beta", "dbeta"}, {"bias", "dbias"}};
  for (const auto& [name, gradient] : gradients) {
    if (!problem.Has(gradient)) continue;
    const std::vector<double> slopes = Slopes(loss, p, name);
    double largest = 0.0;
    for (const double slope : slopes) largest = std::max(largest, std::fabs(slope));
    for (size_t i = 0; i < slopes.size(); ++i) {
      const double got = problem.Get(gradient, static_cast<int64_t>(i) / kCols, static_cast<int64_t>(i) % kCols);
      EXPECT_NEAR(got, slopes[i], 16 * kUnitF32 * largest) << op_case.name << ": " << gradient << "[" << i << "]";
    }
  }
}

// The formulas of the oracle, against differences of the loss of one row.
TEST(FiniteDifferences, AgreeWithTheOracle) {
  BackwardOracle oracle;
  Rng rng(5);
  const auto random = [&] { return static_cast<double>(rng.Normal()) * 0x1p-21; };
  for (const bool layer_norm : {true, false}) {
    for (const double epsilon : {0.0, 1e-5, 0.25}) {
      BackwardRow row;
      row.layer_norm = layer_norm;
      row.epsilon = epsilon;
      for (int64_t i = 0; i < kCols; ++i) {
        row.x.push_back(static_cast<double>(static_cast<float>(random() + 0.5)));
        row.dy.push_back(random());
        row.gamma.push_back(1.0 + 0.25 * random());
      }
      Loss loss;
      loss.rows = 1;
      loss.normalizes = true;
      loss.layer_norm = layer_norm;
      loss.options.epsilon = epsilon;
      loss.dy = Values(row.dy.begin(), row.dy.end());
      Parameters p = {{"x", Values(row.x.begin(), row.x.end())},
                      {"gamma", Values(row.gamma.begin(), row.gamma.end())},
                      {"beta", Values(kCols)}};
      const BackwardRowResult& right = oracle.Compute(row);
      const std::vector<double> slopes = Slopes(loss, p, "x");
      for (size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(slopes[i], right.n[i].hi, 1e-9) << i;
    }
  }
}

TEST(FiniteDifferences, AgreeWithEveryGradient) {
  for (const OpCase& op_case : AllBackwardCases()) {
    if (op_case.dtypes.vectors != ADDNORM_F32 || op_case.dtypes.x != ADDNORM_F32) continue;
    BackwardOptions options;
    options.gamma = VectorType::kF32;
    options.sums = ADDNORM_F64;
    for (const double epsilon : {0.0, 1e-5, 0.25}) {
      options.epsilon = epsilon;
      Check(op_case, options);
    }
    options.gamma_offset = 1.0f;
    options.residual_scale = 0.5f;
    if (op_case.fields->drops_out()) options.dropout.probability = 0.5;
    Check(op_case, options);
  }
}

}  // namespace
}  // namespace addnorm_test
