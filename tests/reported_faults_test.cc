// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Faults that users reported in other systems: sizes, memory, dtypes, NaN and infinity. The addresses are those of the
// reports. Wrong values are in worked_examples_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/dtype.h"
#include "support/examples.h"

namespace addnorm_test {
namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN();

// https://github.com/pytorch/pytorch/issues/108956
TEST(ReportedFaults, OneColumn) {
  Options options;
  options.gamma = options.beta = VectorType::kF32;
  for (const double epsilon : {1e-5, 0.0}) {
    options.epsilon = epsilon;
    Problem norm(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), options, 16, 1);
    norm.Fill(DataKind::kNormal, 17);
    OnEveryTarget(norm, [](const Problem& p, const std::string& target) {
      ExpectAll(p, kY, static_cast<double>(p.Input(kBeta, 0, 0)), target);
    });
  }
}

// What lies where the statistics go, as it is: the mean of nothing may have been written as a NaN.
std::string StatisticsBytes(const Problem& problem) {
  std::string bytes;
  const Args args = problem.MakeArgs();
  for (const OperandField& field : args.op().operands) {
    const addnorm_output operand = args.Get(field);
    if (field.shape != Shape::kColumn || operand.data == nullptr) continue;
    bytes.append(static_cast<const char*>(operand.data),
                 static_cast<size_t>(problem.rows()) * DtypeSize(operand.dtype));
  }
  return bytes;
}

// https://github.com/tensorflow/tensorflow/issues/46366
TEST(ReportedFaults, EmptySizes) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      Problem no_rows(op_case, OptionsOf(op_case)[1], 0, 10);
      EXPECT_EQ(no_rows.Run(), ADDNORM_OK) << op_case.name;
      EXPECT_EQ(no_rows.Untouched(), "");
      // With a mean and rstd, which have an element for each row.
      Problem no_cols(op_case, OptionsOf(op_case)[1], 3, 0);
      no_cols.Reset();
      const std::string before = StatisticsBytes(no_cols);
      EXPECT_EQ(addnorm_status_kind(no_cols.Run()), IsReduction(op_case.op()) ? ADDNORM_EMPTY_REDUCTION : ADDNORM_OK);
      EXPECT_EQ(StatisticsBytes(no_cols), before) << op_case.name << " without columns wrote on " << target;
      EXPECT_EQ(no_cols.Untouched(), "");
      CountChecks(target, 2);
    }
  }
}

// https://github.com/microsoft/onnxruntime/issues/20623
TEST(ReportedFaults, InputsAreNotModified) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : OptionsOf(op_case)) {
      Problem problem(op_case, options, 2, 3, Layout::Shifted(1, 2));
      problem.Fill(DataKind::kNormal, 20);
      OnEveryTarget(problem, [](const Problem& p, const std::string&) { EXPECT_EQ(p.Untouched(), ""); });
    }
  }
}

// https://github.com/vllm-project/vllm/issues/52104. sum_dtype decides, by default the residual's dtype.
TEST(ReportedFaults, StatisticsOfTheRoundedSum) {
  Options options;
  options.epsilon = 0.0;
  options.gamma = VectorType::kF32;
  const Rows x = {{256, 256}}, residual = {{1, 2}};
  const addnorm_dtype b = ADDNORM_BF16, h = ADDNORM_F16, f = ADDNORM_F32;
  Problem rounded = Example(FindOpCase(ADDNORM_OP_ADD_RMS_NORM, {b, b, b, b, 0}), x, options, residual);
  rounded.Set(kGamma, 0, {1, 1});
  OnEveryTarget(rounded, [](const Problem& p, const std::string&) {
    EXPECT_EQ(Written(p, kSumOut), (std::vector<double>{256, 258}));
    EXPECT_EQ(Written(p, kY), (std::vector<double>{0.99609375, 1.0}));
  });
  Problem kept = Example(FindOpCase(ADDNORM_OP_ADD_RMS_NORM, {b, b, f, b, 0}), x, options, residual);
  kept.Set(kGamma, 0, {1, 1});
  OnEveryTarget(kept, [](const Problem& p, const std::string&) {
    EXPECT_EQ(Written(p, kSumOut), (std::vector<double>{257, 258}));
    EXPECT_EQ(Written(p, kY), (std::vector<double>{1.0, 1.0}));
  });
  const Rows large = {{40000, 40000}};
  Problem overflows = Example(FindOpCase(ADDNORM_OP_ADD_RMS_NORM, {h, h, h, h, 0}), large, options, large);
  overflows.Set(kGamma, 0, {1, 1});
  OnEveryTarget(overflows, [](const Problem& p, const std::string& target) {
    ExpectAll(p, kSumOut, std::numeric_limits<double>::infinity(), target);
    EXPECT_TRUE(std::isnan(p.Get(kY, 0, 0)));
  });
  Problem fits = Example(FindOpCase(ADDNORM_OP_ADD_RMS_NORM, {h, h, f, h, 0}), large, options, large);
  fits.Set(kGamma, 0, {1, 1});
  OnEveryTarget(fits, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, 1.0, target); });
}

// https://github.com/openxla/xla/pull/10875, https://github.com/microsoft/onnxruntime/issues/13556
TEST(ReportedFaults, DtypeOfGammaAndBeta) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    for (const bool has_beta : {true, false}) {
      Options options;
      options.gamma = options.bias = VectorType::kStorage;
      options.beta = has_beta ? VectorType::kStorage : VectorType::kAbsent;
      Problem narrow(op_case, options, 3, 67);
      narrow.Fill(DataKind::kNormal, 25);
      const std::string wanted = RunOn("scalar", narrow);
      for (const VectorType gamma : {VectorType::kStorage, VectorType::kF32}) {
        for (const VectorType beta : {VectorType::kStorage, VectorType::kF32}) {
          options.gamma = gamma;
          options.beta = has_beta ? beta : VectorType::kAbsent;
          options.bias = beta;
          Problem mixed(op_case, options, 3, 67);
          mixed.CopyInputs(narrow);
          OnEveryTarget(mixed, [&](const Problem& p, const std::string& target) {
            EXPECT_TRUE(SameBits(target, p.Outputs(), wanted, p));
          });
        }
      }
    }
  }
}

// https://github.com/pytorch/pytorch/issues/173885. NaN and infinity stay in their row.
TEST(ReportedFaults, NaNAndInfinityStayInTheirRow) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.op() == ADDNORM_OP_ADD) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {17, 131}) {
        Problem clean(op_case, options, 3, cols);
        clean.Fill(DataKind::kNormal, 26);
        RunOn("scalar", clean);
        const std::string first = clean.OutputsOfRows(0, 1), last = clean.OutputsOfRows(2, 1);
        for (const float special : {kNaN, infinity, -infinity}) {
          for (const int64_t at : {int64_t{0}, int64_t{5}, cols - 1}) {
            Problem spoiled(op_case, options, 3, cols);
            spoiled.CopyInputs(clean);
            spoiled.Set(kX, 1, at, special);
            OnEveryTarget(spoiled, [&](const Problem& p, const std::string& target) {
              EXPECT_TRUE(SameBits(target, p.OutputsOfRows(0, 1), first, p));
              EXPECT_TRUE(SameBits(target, p.OutputsOfRows(2, 1), last, p));
            });
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

// NaN and infinity in gamma, beta or an operand added after the norm reach their element only.
TEST(ReportedFaults, NaNAndInfinityInVectorsStayInTheirElement) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const Operand operand : {kGamma, kBeta, kResidual}) {
        if (operand == kResidual && !AddsAfter(op_case.op())) continue;
        Problem clean(op_case, options, 2, 35);
        if (!clean.Has(operand)) continue;
        clean.Fill(DataKind::kNormal, 27);
        RunOn("scalar", clean);
        for (const float special : {kNaN, infinity, -infinity}) {
          Problem spoiled(op_case, options, 2, 35);
          spoiled.CopyInputs(clean);
          spoiled.Set(operand, 0, 33, special);
          OnEveryTarget(spoiled, [&](const Problem& p, const std::string& target) {
            for (int64_t col = 0; col < 35; ++col) {
              if (col == 33) continue;
              ASSERT_EQ(p.Bits(kY, 0, col), clean.Bits(kY, 0, col)) << target << " " << OperandName(operand) << col;
            }
          });
        }
      }
      if (HasFailure()) return;
    }
  }
}

// https://github.com/pytorch/pytorch/issues/11869, https://github.com/mudler/vllm.cpp/issues/2908
TEST(ReportedFaults, UnalignedPointers) {
  for (const OpCase& op_case : AllOpCases()) {
    const Options options = OptionsOf(op_case)[1];
    Problem problem(op_case, options, 3, 67, Layout::Shifted(1, 1));
    problem.Fill(DataKind::kNormal, 30);
    OnEveryTarget(problem, [](const Problem&, const std::string&) {});
    Args args = problem.MakeArgs();
    for (const OperandField& field : args.op().operands) {
      const addnorm_output operand = args.Get(field);
      if (operand.data == nullptr) continue;
      addnorm_output odd = operand;
      odd.data = static_cast<char*>(odd.data) + 1;
      args.Set(field, odd);
      EXPECT_EQ(addnorm_status_kind(args.Call()), ADDNORM_UNALIGNED) << op_case.name << " " << field.name;
      args.Set(field, operand);
    }
  }
}

// https://github.com/pytorch/pytorch/pull/173039. No default: epsilon is what the caller says, in f64.
TEST(ReportedFaults, EpsilonIsTheCallers) {
  const float x = 0.050048828125f;  // 0.05 in bf16
  Options options;
  options.rstd = ADDNORM_F64;  // bf16 has nothing between 0.99998 and 1
  for (const auto& [epsilon, wanted] : {std::pair<double, double>{1.19e-7, 0.99997625}, {0.0078125, 0.49273010}}) {
    options.epsilon = epsilon;
    const double y = wanted, rstd = 1.0 / std::sqrt(static_cast<double>(x) * static_cast<double>(x) + epsilon);
    for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16}) {
      Problem norm = Example(Uniform(ADDNORM_OP_RMS_NORM, dtype), {Constant(32, x)}, options);
      OnEveryTarget(norm, [&](const Problem& p, const std::string& target) {
        EXPECT_NEAR(p.Get(kY, 0), y, dtype == ADDNORM_F32 ? 1e-7 : 0x1p-9) << target;
        EXPECT_NEAR(p.Get(kRstd, 0), rstd, 1e-14 * rstd) << target;
      });
    }
  }
}

// https://github.com/linkedin/Liger-Kernel/pull/519
TEST(ReportedFaults, TailIsNotCounted) {
  for (const int64_t cols : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 1536, 4095, 4097}) {
    std::vector<float> row = Constant(cols, 5);
    row[0] = static_cast<float>(5 + cols);
    Problem moments = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F32), {row});
    OnEveryTarget(moments, [&](const Problem& p, const std::string&) {
      EXPECT_EQ(p.Get(kMean, 0), 6.0);
      EXPECT_EQ(p.Get(kVariance, 0), static_cast<double>(cols - 1));
    });
    Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {row});
    OnEveryTarget(norm, [](const Problem&, const std::string&) {});
  }
}

}  // namespace
}  // namespace addnorm_test
