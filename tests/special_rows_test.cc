// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Rows whose result is known exactly, for every norm with all its dtypes and options: constant and zero rows,
// infinities, NaN, and 16-bit rows, whose statistics are those of the same values in f32. The addresses are those of
// reports of other systems that went wrong on them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/dtype.h"
#include "support/examples.h"
#include "support/oracle.h"

namespace addnorm_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What y has to be, bit for bit, where the normalized value is 0: beta, or 0, with what is added after.
float ResultOfZero(const Problem& p, int64_t row, int64_t col) {
  const float beta = p.Has(kBeta) ? p.Input(kBeta, 0, col) : 0.0f;
  if (!AddsAfter(p.op_case().op())) return RoundF32To(beta, p.Dtype(kY));
  const addnorm_dtype norm_out = p.options().norm_out_dtype != 0 ? p.options().norm_out_dtype : p.Dtype(kX);
  const float sum = FusedF32(p.options().residual_scale, p.Input(kResidual, row, col), RoundF32To(beta, norm_out));
  return RoundF32To(sum, p.Dtype(kY));
}

void ExpectResultOfZero(const Problem& p, int64_t row, int64_t col, const std::string& target) {
  ASSERT_EQ(p.Get(kY, row, col), static_cast<double>(ResultOfZero(p, row, col)))
      << p.op_case().name << " [" << p.options().name << "], row " << row << ", column " << col << " on " << target;
}

// Rows of one value each. The sum of the Add*Norm is constant as well.
Problem ConstantRows(const OpCase& op_case, const Options& options, const std::vector<float>& values, int64_t cols) {
  Problem problem(op_case, options, static_cast<int64_t>(values.size()), cols);
  problem.Fill(DataKind::kNormal, 31);
  for (int64_t row = 0; row < problem.rows(); ++row) {
    const float value = values[static_cast<size_t>(row)];
    problem.Set(kX, row, Constant(cols, value));
    if (AddsBefore(op_case.op())) problem.Set(kResidual, row, Constant(cols, 0.25f * value));
  }
  if (problem.Has(kBias)) problem.Set(kBias, 0, Constant(cols, 0.0f));
  return problem;
}

// https://github.com/microsoft/onnxruntime/issues/21935, https://github.com/pytorch/pytorch/issues/5410,
// https://github.com/pytorch/pytorch/issues/108956 (one column),
// https://github.com/microsoft/onnxruntime/issues/10228 (zeros, epsilon 0)
TEST(SpecialRows, WithoutSpreadGiveBeta) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    std::vector<float> values = {0.0f, -0.0f};
    if (IsLayerNorm(op_case.op())) {
      values.insert(values.end(), {1234.567f, -0.1f, 20000.0f, 6e-8f});
      if (op_case.dtypes.vectors != ADDNORM_F16) values.insert(values.end(), {1e15f, -1e30f, 1e38f, 1e-40f});
    }
    for (Options options : OptionsOf(op_case)) {
      for (const double epsilon : {1e-5, 0.0}) {
        options.epsilon = epsilon;
        for (const int64_t cols : {1, 5, 100}) {
          Problem problem = ConstantRows(op_case, options, values, cols);
          OnEveryTarget(problem, [](const Problem& p, const std::string& target) {
            for (int64_t row = 0; row < p.rows(); ++row) {
              for (int64_t col = 0; col < p.cols(); ++col) ExpectResultOfZero(p, row, col, target);
            }
          });
          if (HasFailure()) return;
        }
      }
    }
  }
}

// https://github.com/pytorch/pytorch/issues/173885: LayerNorm's row is NaN; RMSNorm divides by infinity.
TEST(SpecialRows, WithAnInfinity) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 17, 131}) {
        const int64_t at = cols - 1;
        Problem problem(op_case, options, 2, cols);
        problem.Fill(DataKind::kNormal, 32);
        problem.Set(kX, 0, at, kInfinity);
        problem.Set(kX, 1, at, -kInfinity);
        OnEveryTarget(problem, [&](const Problem& p, const std::string& target) {
          for (int64_t row = 0; row < 2; ++row) {
            for (int64_t col = 0; col < p.cols(); ++col) {
              if (col == at || IsLayerNorm(p.op_case().op())) {
                ASSERT_TRUE(std::isnan(p.Get(kY, row, col))) << p.op_case().name << " on " << target;
              } else {
                ExpectResultOfZero(p, row, col, target);
              }
            }
            if (!p.Has(kRstd)) continue;
            const double rstd = p.Get(kRstd, row);
            EXPECT_TRUE(IsLayerNorm(p.op_case().op()) ? std::isnan(rstd) : rstd == 0.0) << rstd << " on " << target;
          }
        });
      }
      if (HasFailure()) return;
    }
  }
}

// https://github.com/pytorch/pytorch/issues/173885
TEST(SpecialRows, WithANaN) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      Problem problem(op_case, options, 1, 131);
      problem.Fill(DataKind::kNormal, 33);
      problem.Set(AddsBefore(op_case.op()) ? kResidual : kX, 0, 130, std::numeric_limits<float>::quiet_NaN());
      OnEveryTarget(problem, [](const Problem& p, const std::string& target) {
        for (int64_t col = 0; col < p.cols(); ++col) {
          ASSERT_TRUE(std::isnan(p.Get(kY, 0, col))) << p.op_case().name << ", column " << col << " on " << target;
        }
        for (const Operand statistic : {kMean, kRstd}) {
          EXPECT_TRUE(!p.Has(statistic) || std::isnan(p.Get(statistic, 0))) << OperandName(statistic);
        }
      });
      if (HasFailure()) return;
    }
  }
}

// Exact without epsilon: https://github.com/pytorch/pytorch/issues/173337,
// https://github.com/pytorch/pytorch/issues/166405
TEST(SpecialRows, OfUnitSpread) {
  Options options;
  options.epsilon = 0.0;
  for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16, ADDNORM_F16}) {
    // The last are longer than LayerNorm's one pass and RMSNorm's fast squares are taken for:
    // https://github.com/numpy/numpy/issues/21941, https://github.com/numpy/numpy/issues/7930
    for (const int64_t cols : {2, 66, 4096, 100000}) {
      std::vector<float> row(static_cast<size_t>(cols));
      for (size_t i = 0; i < row.size(); ++i) row[i] = i % 2 == 0 ? 0.0f : 2.0f;
      Problem layer = Example(Uniform(ADDNORM_OP_LAYER_NORM, dtype), {row}, options);
      OnEveryTarget(layer, [](const Problem& p, const std::string& target) {
        for (int64_t i = 0; i < p.cols(); ++i) ASSERT_EQ(p.Get(kY, 0, i), i % 2 == 0 ? -1.0 : 1.0) << target;
      });
      Problem rms = Example(Uniform(ADDNORM_OP_RMS_NORM, dtype), {Constant(cols, -2.0f)}, options);
      OnEveryTarget(rms, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, -1.0, target); });
    }
  }
}

// gamma -0 is not +0, though gamma_offset 0 is: no rounding point takes a sign away.
TEST(SpecialRows, KeepTheSignOfGammaZero) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op()) || AddsAfter(op_case.op())) continue;
    for (Options options : OptionsOf(op_case)) {
      options.beta = VectorType::kAbsent;
      options.gamma = VectorType::kF32;
      options.gamma_offset = 0.0f;
      Problem problem(op_case, options, 1, 67);
      problem.Fill(DataKind::kAlternating, 35);
      if (AddsBefore(op_case.op())) problem.Set(kResidual, 0, Constant(67, 0.0f));
      if (problem.Has(kBias)) problem.Set(kBias, 0, Constant(67, 0.0f));
      problem.Set(kGamma, 0, Constant(67, -0.0f));
      OnEveryTarget(problem, [](const Problem& p, const std::string& target) {
        for (int64_t col = 0; col < p.cols(); ++col) {
          ASSERT_EQ(p.Get(kY, 0, col), 0.0);
          ASSERT_NE(std::signbit(p.Get(kY, 0, col)), std::signbit(p.Input(kX, 0, col)))
              << p.op_case().name << " [" << p.options().name << "], column " << col << " on " << target;
        }
      });
      if (HasFailure()) return;
    }
  }
}

// The statistics are those of the same values in f32. Products of bf16 in bf16, as some instructions make them, would
// round: https://github.com/google/highway/issues/2973,
// https://github.com/vespa-engine/vespa/pull/34849
TEST(SpecialRows, OfSixteenBitsHaveExactProducts) {
  for (const addnorm_dtype dtype : {ADDNORM_BF16, ADDNORM_F16}) {
    for (const addnorm_op op : {ADDNORM_OP_MEAN, ADDNORM_OP_VARIANCE, ADDNORM_OP_MEAN_VARIANCE, ADDNORM_OP_MEAN_SQUARE,
                                ADDNORM_OP_RMS, ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM}) {
      Options options;
      options.mean = op == ADDNORM_OP_LAYER_NORM ? ADDNORM_F64 : 0;
      options.rstd = IsNorm(op) ? ADDNORM_F64 : 0;
      for (const int64_t cols : {1, 17, 131, 515}) {
        Problem narrow(Uniform(op, dtype), options, kDataKinds, cols);
        narrow.FillByKind(34);
        Problem wide(Uniform(op, ADDNORM_F32), options, kDataKinds, cols);
        wide.CopyInputs(narrow);
        OnEveryTarget(narrow, [&](const Problem& p, const std::string& target) {
          RunOn(target, wide);
          for (const Operand statistic : {kMean, kRstd, kVariance, kMeanSquare, kRms}) {
            if (!p.Has(statistic)) continue;
            for (int64_t row = 0; row < p.rows(); ++row) {
              ASSERT_EQ(p.Bits(statistic, row), wide.Bits(statistic, row))
                  << p.op_case().name << " " << OperandName(statistic) << ", row " << row << " on " << target;
            }
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
