// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Results and gradients against values that are not ours: float64 autograd of PyTorch (tests/data/README.md), or
// another file of that format, which ADDNORM_REFERENCE names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "addnorm/training.h"
#include "support/backward.h"
#include "support/backward_oracle.h"
#include "support/bounds.h"
#include "support/op_case.h"
#include "support/oracle.h"
#include "support/reference_values.h"
#include "support/targets.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

struct ReferenceCase {
  const char* name;
  addnorm_op op, backward;
};

const ReferenceCase kCases[] = {
    {"layer_norm", ADDNORM_OP_LAYER_NORM, ADDNORM_OP_LAYER_NORM_BACKWARD},
    {"layer_norm_mean1000", ADDNORM_OP_LAYER_NORM, ADDNORM_OP_LAYER_NORM_BACKWARD},
    {"rms_norm", ADDNORM_OP_RMS_NORM, ADDNORM_OP_RMS_NORM_BACKWARD},
    {"add_layer_norm_post", ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_OP_ADD_LAYER_NORM_BACKWARD},
    {"add_layer_norm_pre", ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_OP_ADD_LAYER_NORM_BACKWARD},
    {"add_rms_norm_pre", ADDNORM_OP_ADD_RMS_NORM, ADDNORM_OP_ADD_RMS_NORM_BACKWARD},
    {"layer_norm_add", ADDNORM_OP_LAYER_NORM_ADD, ADDNORM_OP_LAYER_NORM_ADD_BACKWARD},
    {"rms_norm_add", ADDNORM_OP_RMS_NORM_ADD, ADDNORM_OP_RMS_NORM_ADD_BACKWARD},
    {"add_layer_norm_dropout", ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_OP_ADD_LAYER_NORM_BACKWARD}};

const OpCase& CaseOf(const std::vector<OpCase>& cases, addnorm_op op) {
  return *std::find_if(cases.begin(), cases.end(), [op](const OpCase& c) {
    const addnorm_dtypes& d = c.dtypes;
    const auto f32 = [](addnorm_dtype dtype) { return dtype == ADDNORM_F32 || dtype == 0; };
    return c.op() == op && f32(d.x) && f32(d.residual) && f32(d.sum) && f32(d.y) && f32(d.vectors);
  });
}

// A row that was normalized, and the gradient of it, plainly: to tell how much two rows differ.
struct PlainRow {
  PlainRow(bool layer_norm, long double epsilon, const std::vector<long double>& x, const double* dy,
           const double* gamma) {
    const auto count = static_cast<long double>(x.size());
    long double mean = 0.0L, square = 0.0L, mean_h = 0.0L, mean_ht = 0.0L;
    for (const long double v : x) mean += layer_norm ? v / count : 0.0L;
    for (const long double v : x) square += (v - mean) * (v - mean) / count;
    const long double rstd = square + epsilon == 0.0L ? 0.0L : 1.0L / std::sqrt(square + epsilon);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double h = static_cast<long double>(dy[i]) * static_cast<long double>(gamma[i]);
      t.push_back((x[i] - mean) * rstd);
      mean_h += layer_norm ? h / count : 0.0L;
      mean_ht += h * t[i] / count;
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const long double h = static_cast<long double>(dy[i]) * static_cast<long double>(gamma[i]);
      dx.push_back((h - mean_h - t[i] * mean_ht) * rstd);
    }
  }

  std::vector<long double> t, dx;
};

double Difference(long double a, long double b) { return static_cast<double>(std::fabs(a - b)); }

class Reference : public testing::TestWithParam<ReferenceCase> {
 protected:
  void SetUp() override {
    std::printf("values of %s\n", file_.path().c_str());
    if (!file_.Has(name() + ".x")) {
      if (file_.is_committed()) FAIL() << "no case " << name();
      GTEST_SKIP() << file_.path() << " has no case " << name();
    }
    cols_ = Tensor("x").shape.back();
    rows_ = static_cast<int64_t>(Tensor("x").values.size()) / cols_;
    epsilon_ = std::stod(file_.metadata("epsilon"));
    if (!DropsOut()) return;
    probability_ = std::stod(file_.metadata("dropout_p"));
    mask_.resize(static_cast<size_t>(rows_ * MaskBytes(cols_)));
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t col = 0; col < cols_; ++col) {
        if (!IsKept(row, col)) continue;
        uint8_t& byte = mask_[static_cast<size_t>(row * MaskBytes(cols_) + col / 8)];
        byte = static_cast<uint8_t>(byte | 1 << (col % 8));
      }
    }
    dropout_.probability = probability_;
    dropout_.mask = mask_.data();
    dropout_.mask_row_stride = MaskBytes(cols_);
  }

  std::string name() const { return GetParam().name; }
  const ReferenceTensor& Tensor(const std::string& part) const { return file_[name() + "." + part]; }
  bool Has(const char* part) const { return file_.Has(name() + "." + part); }
  double Value(const std::string& part, int64_t row, int64_t col) const {
    return Tensor(part).values[static_cast<size_t>(row * cols_ + col)];
  }
  bool AddsBefore() const { return IsBackwardOfAddNorm(GetParam().backward); }
  bool DropsOut() const { return Has("mask"); }
  bool IsKept(int64_t row, int64_t col) const { return !DropsOut() || Value("mask", row, col) != 0.0; }
  float Scale() const { return DropsOut() ? static_cast<float>(1.0 / (1.0 - probability_)) : 1.0f; }

  // The row that is normalized, not rounded to f32.
  std::vector<long double> ExactRow(int64_t row) const {
    std::vector<long double> sums;
    for (int64_t col = 0; col < cols_; ++col) {
      long double s = IsKept(row, col) ? static_cast<long double>(Value("x", row, col)) : 0.0L;
      if (DropsOut()) s /= 1.0L - static_cast<long double>(probability_);
      if (AddsBefore()) s += static_cast<long double>(Value("residual", row, col));
      sums.push_back(s);
    }
    return sums;
  }

  PlainRow Plain(const std::vector<long double>& x, int64_t row) const {
    const size_t begin = static_cast<size_t>(row * cols_);
    return PlainRow(IsBackwardOfLayerNorm(GetParam().backward), static_cast<long double>(epsilon_), x,
                    &Tensor(Has("dy1") ? "dy1" : "dy").values[begin], Tensor("gamma").values.data());
  }

  // The forward call of the case.
  Problem Forward() const {
    Options options;
    options.gamma = VectorType::kF32;
    options.beta = Has("beta") ? VectorType::kF32 : VectorType::kAbsent;
    options.epsilon = epsilon_;
    Problem problem(CaseOf(AllOpCases(), GetParam().op), options, rows_, cols_);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t col = 0; col < cols_; ++col) {
        problem.Set(kX, row, col, static_cast<float>(Value("x", row, col)));
        if (Has("residual")) problem.Set(kResidual, row, col, static_cast<float>(Value("residual", row, col)));
      }
    }
    for (int64_t col = 0; col < cols_; ++col) {
      problem.Set(kGamma, 0, col, static_cast<float>(Value("gamma", 0, col)));
      if (Has("beta")) problem.Set(kBeta, 0, col, static_cast<float>(Value("beta", 0, col)));
    }
    return problem;
  }

  // What float64 itself rounds, relative to the largest term.
  double Autograd(double mean_over_spread) const {
    return (static_cast<double>(cols_) + 8.0) * kUnitF64 * (1.0 + mean_over_spread);
  }

  template <class AnyProblem>
  addnorm_status Run(AnyProblem& problem) const {
    problem.Reset();
    Args args = problem.MakeArgs();
    if (DropsOut()) args.set_dropout(&dropout_);
    return args.Call();
  }

  const ReferenceValues file_{"reference-1", "pytorch-reference.safetensors"};
  int64_t rows_ = 0, cols_ = 0;
  double epsilon_ = 0.0, probability_ = 0.0;
  std::vector<uint8_t> mask_;
  addnorm_dropout dropout_ = ADDNORM_DROPOUT_INIT;
};

using ReferenceForward = Reference;
using ReferenceBackward = Reference;

// The proven bound, and what the rounding of the sum to f32 does, of which float64 has none.
TEST_P(ReferenceForward, ResultsArePyTorchs) {
  Problem problem = Forward();
  Oracle oracle;
  const char* y = Has("y1") ? "y1" : "y";
  double worst = 0.0;
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    ASSERT_EQ(Run(problem), ADDNORM_OK);
    for (int64_t row = 0; row < rows_; ++row) {
      const std::vector<long double> exact = ExactRow(row);
      std::vector<long double> rounded = exact;
      std::vector<unsigned char> kept;
      OracleRow in = problem.ForOracle(row);
      for (int64_t col = 0; DropsOut() && col < cols_; ++col) kept.push_back(IsKept(row, col) ? 1 : 0);
      if (DropsOut()) in.kept = kept.data(), in.dropout_scale = Scale();
      const OracleResult& right = oracle.Compute(in);
      for (int64_t col = 0; AddsBefore() && col < cols_; ++col) {
        const size_t i = static_cast<size_t>(col);
        const double sum = problem.Get(kSumOut, row, col);
        // The sum has one rounding; dropout, the scale and the product before it.
        const double scaled = DropsOut() ? std::fabs(Value("x", row, col) * static_cast<double>(Scale())) : 0.0;
        EXPECT_LE(Difference(static_cast<long double>(sum), exact[i]),
                  0.5 * Ulp32(std::fabs(sum)) + 2.1 * kUnitF32 * scaled)
            << "sum[" << row << "][" << col << "] on " << target;
        if (Has("y0")) {
          EXPECT_LE(std::fabs(sum - Value("y0", row, col)), 0.5001 * Ulp32(std::fabs(sum)))
              << "sum[" << row << "][" << col << "] on " << target;
        }
        rounded[i] = static_cast<long double>(sum);
      }
      const PlainRow wanted = Plain(exact, row), had = Plain(rounded, row);
      const double autograd = Autograd(std::fabs(right.mean.hi) * right.rstd.hi);
      for (int64_t col = 0; col < cols_; ++col) {
        const size_t i = static_cast<size_t>(col);
        const double ulp = Ulp32(right.y[i].magnitude);
        const double moved =
            std::fabs(Value("gamma", 0, col)) * Difference(wanted.t[i], had.t[i]) + autograd * right.y[i].magnitude;
        const double error = std::fabs(problem.Get(kY, row, col) - Value(y, row, col));
        EXPECT_LE(error, right.bound * ulp + moved) << "y[" << row << "][" << col << "] on " << target;
        worst = std::max(worst, (error - moved) / ulp);
      }
    }
  }
  std::printf("%s: within %.2f ULP of PyTorch's\n", name().c_str(), worst);
}

TEST_P(ReferenceBackward, GradientsArePyTorchs) {
  const addnorm_op op = GetParam().backward;
  const bool layer_norm = IsBackwardOfLayerNorm(op), two_outputs = Has("dy1");
  Problem forward = Forward();
  ASSERT_EQ(Run(forward), ADDNORM_OK);
  BackwardOptions options;
  options.gamma = VectorType::kF32;
  options.epsilon = epsilon_;
  options.sums = ADDNORM_F64;
  options.d_sum = two_outputs;
  BackwardProblem problem(CaseOf(AllBackwardCases(), op), options, rows_, cols_);
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t col = 0; col < cols_; ++col) {
      problem.Set("x", row, col, AddsBefore() ? forward.Get(kSumOut, row, col) : Value("x", row, col));
      problem.Set("dy", row, col, Value(two_outputs ? "dy1" : "dy", row, col));
      if (two_outputs) problem.Set("d_sum", row, col, Value("dy0", row, col));
    }
  }
  for (int64_t col = 0; col < cols_; ++col) problem.Set("gamma", 0, col, Value("gamma", 0, col));

  BackwardOracle oracle;
  double worst = 0.0, worst_sum = 0.0;
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    ASSERT_EQ(Run(problem), ADDNORM_OK);
    const size_t cols = static_cast<size_t>(cols_);
    // Of what is allowed for the sums over rows: what the additions round, and what the terms had.
    std::vector<double> dgamma_sum(cols), dgamma_terms(cols), dbeta_sum(cols), moved_sum(cols);
    for (int64_t row = 0; row < rows_; ++row) {
      BackwardRow in;
      in.layer_norm = layer_norm;
      in.epsilon = epsilon_;
      in.gamma = Tensor("gamma").values;
      std::vector<long double> rounded;
      for (int64_t col = 0; col < cols_; ++col) {
        in.x.push_back(problem.Input("x", row, col));
        in.dy.push_back(problem.Input("dy", row, col));
        rounded.push_back(static_cast<long double>(in.x.back()));
      }
      const BackwardRowResult& right = oracle.Compute(in);
      const PlainRow wanted = Plain(ExactRow(row), row), had = Plain(rounded, row);
      // The proven bound before rounding; a rounding of dn and one of the sum with d_sum.
      const double bound =
          1.0 + (layer_norm ? LayerNormBackwardBound(cols_, right.mean_over_spread) : RmsNormBackwardBound(cols_));
      const double autograd = Autograd(right.mean_over_spread);
      for (int64_t col = 0; col < cols_; ++col) {
        const size_t i = static_cast<size_t>(col);
        const double d_x = Value("d_x", row, col);
        const double sum = two_outputs ? std::fabs(Value("dy0", row, col)) : 0.0;
        const double d_residual = problem.Has("d_residual") ? Value("d_residual", row, col) : d_x;
        const double magnitude = std::max({right.magnitude[i], sum, std::fabs(d_residual)});
        const double moved = Difference(wanted.dx[i], had.dx[i]);
        const double allowed = bound * Ulp32(magnitude) + autograd * magnitude + moved;
        const double error = std::fabs(problem.Get("dx", row, col) - d_x);
        // Dropout rounds its scale and the product.
        const double scale = IsKept(row, col) ? static_cast<double>(Scale()) : 0.0;
        const double scaled = scale * allowed + (DropsOut() ? 2.1 * kUnitF32 * std::fabs(d_x) : 0.0);
        EXPECT_LE(error, scaled) << "d_x[" << row << "][" << col << "] on " << target;
        worst = std::max(worst, (error - moved) / Ulp32(magnitude));
        if (problem.Has("d_residual")) {
          EXPECT_LE(std::fabs(problem.Get("d_residual", row, col) - d_residual), allowed)
              << "d_residual[" << row << "][" << col << "] on " << target;
        }
        const double dy = std::fabs(in.dy[i]), t = std::fabs(right.t[i].hi);
        dgamma_sum[i] += dy * t;
        dgamma_terms[i] += dy * (NormalizedBound(layer_norm, cols_, t, right.mean_over_spread) + autograd);
        dbeta_sum[i] += dy;
        moved_sum[i] += dy * Difference(wanted.t[i], had.t[i]);
      }
    }
    // PyTorch's sums are of any order.
    const double additions = RowSumBound(rows_) + static_cast<double>(rows_) * kUnitF64;
    for (int64_t col = 0; col < cols_; ++col) {
      const size_t i = static_cast<size_t>(col);
      const double error = std::fabs(problem.Get("dgamma", 0, col) - Tensor("d_gamma").values[i]);
      EXPECT_LE(error, additions * dgamma_sum[i] + dgamma_terms[i] + moved_sum[i])
          << "d_gamma[" << col << "] on " << target;
      if (dgamma_sum[i] != 0.0) worst_sum = std::max(worst_sum, (error - moved_sum[i]) / (kUnitF32 * dgamma_sum[i]));
      if (Has("d_beta")) {
        EXPECT_LE(std::fabs(problem.Get("dbeta", 0, col) - Tensor("d_beta").values[i]), additions * dbeta_sum[i])
            << "d_beta[" << col << "] on " << target;
      }
    }
  }
  std::printf("%s: dx within %.2f ULP of PyTorch's, dgamma %.2f u\n", name().c_str(), worst, worst_sum);
}

std::string CaseName(const testing::TestParamInfo<ReferenceCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(PyTorch, ReferenceForward, testing::ValuesIn(kCases), CaseName);
INSTANTIATE_TEST_SUITE_P(PyTorch, ReferenceBackward, testing::ValuesIn(kCases), CaseName);

}  // namespace
}  // namespace addnorm_test
