// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Gradients against values that are not ours: float64 autograd of PyTorch (tests/data/README.md), or another file of
// that format, which ADDNORM_REFERENCE names; and the oracle against finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/backward_equal_bits.h"
#include "support/backward_oracle.h"
#include "support/bounds.h"
#include "support/reference_values.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

struct ReferenceCase {
  const char* name;
  addnorm_op op;
};

const ReferenceCase kCases[] = {{"layer_norm", ADDNORM_OP_LAYER_NORM_BACKWARD},
                                {"layer_norm_mean1000", ADDNORM_OP_LAYER_NORM_BACKWARD},
                                {"rms_norm", ADDNORM_OP_RMS_NORM_BACKWARD},
                                {"add_layer_norm_post", ADDNORM_OP_ADD_LAYER_NORM_BACKWARD},
                                {"add_layer_norm_pre", ADDNORM_OP_ADD_LAYER_NORM_BACKWARD},
                                {"add_rms_norm_pre", ADDNORM_OP_ADD_RMS_NORM_BACKWARD},
                                {"layer_norm_add", ADDNORM_OP_LAYER_NORM_ADD_BACKWARD},
                                {"rms_norm_add", ADDNORM_OP_RMS_NORM_ADD_BACKWARD}};

class ReferenceBackward : public testing::TestWithParam<ReferenceCase> {
 protected:
  // In ULP32(M): the proven bound before rounding, a rounding of dn and one of the sum with d_sum, and where there is
  // an add, what the rounding of the sum in f32 does, of which PyTorch's f64 has none.
  static double Tolerance(addnorm_op op, int64_t cols, double mean_over_spread) {
    const double norm =
        IsBackwardOfLayerNorm(op) ? LayerNormBackwardBound(cols, mean_over_spread) : RmsNormBackwardBound(cols);
    return norm + 1.0 + (IsBackwardOfAddNorm(op) ? 4.0 : 0.0);
  }
};

TEST_P(ReferenceBackward, GradientsArePyTorchs) {
  const ReferenceValues file("reference-1", "pytorch-reference.safetensors");
  const std::string name = GetParam().name;
  const addnorm_op op = GetParam().op;
  const auto tensor = [&](const char* part) -> const ReferenceTensor& { return file[name + "." + part]; };
  const bool two_outputs = file.Has(name + ".dy1");
  const ReferenceTensor &x = tensor("x"), &gamma = tensor("gamma");
  const ReferenceTensor& dy = tensor(two_outputs ? "dy1" : "dy");
  const int64_t cols = x.shape.back(), rows = static_cast<int64_t>(x.values.size()) / cols;

  BackwardOptions options;
  options.gamma = VectorType::kF32;
  options.epsilon = std::stod(file.metadata("epsilon"));
  options.sums = ADDNORM_F64;
  options.d_sum = two_outputs;
  const OpCase* op_case = nullptr;
  for (const OpCase& c : AllBackwardCases()) {
    if (c.op() == op && c.dtypes.vectors == ADDNORM_F32) op_case = &c;
  }
  BackwardProblem problem(*op_case, options, rows, cols);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      const size_t i = static_cast<size_t>(row * cols + col);
      const double sum = IsBackwardOfAddNorm(op) ? x.values[i] + tensor("residual").values[i] : x.values[i];
      problem.Set("x", row, col, sum);  // rounded to f32, as addnorm_add does it
      problem.Set("dy", row, col, dy.values[i]);
      if (two_outputs) problem.Set("d_sum", row, col, tensor("dy0").values[i]);
    }
  }
  for (int64_t col = 0; col < cols; ++col) problem.Set("gamma", 0, col, gamma.values[static_cast<size_t>(col)]);

  BackwardOracle oracle;
  double worst = 0.0, worst_sum = 0.0;
  for (const std::string& target : TestedTargets()) {
    RunOn(target, problem);
    std::vector<double> dy_t(static_cast<size_t>(cols)), dy_abs(static_cast<size_t>(cols));
    for (int64_t row = 0; row < rows; ++row) {
      BackwardRow in;
      in.layer_norm = IsBackwardOfLayerNorm(op);
      in.epsilon = options.epsilon;
      in.gamma = gamma.values;
      for (int64_t col = 0; col < cols; ++col) {
        in.x.push_back(problem.Input("x", row, col));
        in.dy.push_back(problem.Input("dy", row, col));
      }
      const BackwardRowResult& right = oracle.Compute(in);
      const double tolerance = Tolerance(op, cols, right.mean_over_spread);
      for (int64_t col = 0; col < cols; ++col) {
        const size_t at = static_cast<size_t>(row * cols + col), i = static_cast<size_t>(col);
        const double d_x = tensor("d_x").values[at];
        const double sum = two_outputs ? std::fabs(tensor("dy0").values[at]) : 0.0;
        const double ulp = Ulp32(std::max({right.magnitude[i], sum, std::fabs(d_x)}));
        const double error = std::fabs(problem.Get("dx", row, col) - d_x) / ulp;
        EXPECT_LE(error, tolerance) << "d_x[" << row << "][" << col << "] on " << target;
        worst = std::max(worst, error);
        if (problem.Has("d_residual")) {
          const double d_residual = tensor("d_residual").values[at];
          const double scale = Ulp32(std::max({right.magnitude[i], sum, std::fabs(d_residual)}));
          EXPECT_LE(std::fabs(problem.Get("d_residual", row, col) - d_residual), tolerance * scale)
              << "d_residual[" << row << "][" << col << "] on " << target;
        }
        dy_t[i] += std::fabs(in.dy[i] * right.t[i].hi);
        dy_abs[i] += std::fabs(in.dy[i]);
      }
    }
    for (int64_t col = 0; col < cols; ++col) {
      const size_t i = static_cast<size_t>(col);
      // t has the error of rstd and of a rounded sum: a few u.
      const double error = std::fabs(problem.Get("dgamma", 0, col) - tensor("d_gamma").values[i]);
      EXPECT_LE(error, 4.0 * kUnitF32 * dy_t[i]) << "d_gamma[" << col << "] on " << target;
      worst_sum = std::max(worst_sum, error / (kUnitF32 * dy_t[i]));
      if (file.Has(name + ".d_beta")) {
        EXPECT_LE(std::fabs(problem.Get("dbeta", 0, col) - tensor("d_beta").values[i]), 0x1p-45 * dy_abs[i])
            << "d_beta[" << col << "] on " << target;
      }
    }
  }
  std::printf("%s: dx within %.2f ULP of PyTorch's, dgamma %.2f u\n", name.c_str(), worst, worst_sum);
}

std::string CaseName(const testing::TestParamInfo<ReferenceCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(PyTorch, ReferenceBackward, testing::ValuesIn(kCases), CaseName);

// The formulas of the oracle, against differences of the loss sum(dy * y) of a forward pass in 64 bits.
TEST(OracleBackward, AgreesWithFiniteDifferences) {
  constexpr size_t kCols = 13;
  constexpr long double kStep = 0x1p-20L;
  BackwardOracle oracle;
  Rng rng(5);
  const auto random = [&] { return static_cast<double>(rng.Normal()) * 0x1p-21; };
  for (const bool layer_norm : {true, false}) {
    for (const double epsilon : {0.0, 1e-5, 0.25}) {
      BackwardRow row;
      row.layer_norm = layer_norm;
      row.epsilon = epsilon;
      for (size_t i = 0; i < kCols; ++i) {
        row.x.push_back(static_cast<double>(static_cast<float>(random() + 0.5)));
        row.dy.push_back(random());
        row.gamma.push_back(1.0 + 0.25 * random());
      }
      const auto loss = [&](size_t moved, long double by) {
        std::vector<long double> x(row.x.begin(), row.x.end());
        x[moved] += by;
        long double mean = 0.0L, square = 0.0L, sum = 0.0L;
        for (const long double v : x) mean += layer_norm ? v / kCols : 0.0L;
        for (const long double v : x) square += (v - mean) * (v - mean) / kCols;
        for (size_t i = 0; i < kCols; ++i) {
          sum += static_cast<long double>(row.dy[i]) * static_cast<long double>(row.gamma[i]) * (x[i] - mean) /
                 std::sqrt(square + static_cast<long double>(epsilon));
        }
        return sum;
      };
      const BackwardRowResult& right = oracle.Compute(row);
      for (size_t i = 0; i < kCols; ++i) {
        const long double slope = (loss(i, kStep) - loss(i, -kStep)) / (2 * kStep);
        EXPECT_NEAR(static_cast<double>(slope), right.n[i].hi, 1e-9) << i;
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
