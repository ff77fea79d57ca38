// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Fusion never changes a bit: a fused call equals the sequence of unfused calls, with every rounding point, and what
// else is written never changes y.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/dtype.h"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

constexpr int64_t kLengths[] = {1, 4, 17, 64, 67, 131, 768};

addnorm_op NormOf(addnorm_op op) { return IsLayerNorm(op) ? ADDNORM_OP_LAYER_NORM : ADDNORM_OP_RMS_NORM; }

// Copies an input row by row from what another problem holds as input or wrote.
void CopyRows(const Problem& from, Operand source, Problem* to, Operand target) {
  for (int64_t row = 0; row < from.rows(); ++row) {
    for (int64_t col = 0; col < from.cols(); ++col) {
      to->Set(target, row, col,
              IsOutput(source) ? static_cast<float>(from.Get(source, row, col)) : from.Input(source, row, col));
    }
  }
}

void CopyVectors(const Problem& from, Problem* to) {
  for (const Operand operand : {kGamma, kBeta, kBias}) {
    if (!from.Has(operand) || !to->Has(operand)) continue;
    for (int64_t col = 0; col < from.cols(); ++col) to->Set(operand, 0, col, from.Input(operand, 0, col));
  }
}

// The same values hold for gamma, beta and bias in f32.
Options InF32(Options options) {
  for (VectorType* type : {&options.gamma, &options.beta, &options.bias}) {
    if (*type == VectorType::kStorage) *type = VectorType::kF32;
  }
  return options;
}

std::string OutputBits(const Problem& p, Operand output) {
  std::string all;
  for (int64_t row = 0; row < p.rows(); ++row) all += p.OutputBytes(output, row);
  return all;
}

// Add*Norm against Add, then the norm of the sum. `widened`: the sequence works on f32 copies, and the sum is rounded
// to its dtype by the test.
void CheckAddNorm(const OpCase& fused_case, const Options& options, int64_t cols, bool widened) {
  const addnorm_dtypes& d = fused_case.dtypes;
  Problem fused(fused_case, options, kDataKinds, cols);
  fused.FillByKind(static_cast<uint64_t>(cols) * 13);
  const addnorm_dtype wide = ADDNORM_F32;
  const OpCase& add_case = widened ? FindOpCase(ADDNORM_OP_ADD, {wide, wide, wide, 0, 0})
                                   : FindOpCase(ADDNORM_OP_ADD, {d.x, d.residual, d.sum, 0, 0});
  const OpCase& norm_case = FindOpCase(NormOf(fused_case.op()), {widened ? wide : d.sum, 0, 0, d.y, 0});
  Problem add(add_case, widened ? InF32(options) : options, kDataKinds, cols);
  CopyRows(fused, kX, &add, kX);
  CopyRows(fused, kResidual, &add, kResidual);
  CopyVectors(fused, &add);
  for (const std::string& target : TestedTargets()) {
    RunOn(target, fused);
    const std::string wanted_y = OutputBits(fused, kY);
    RunOn(target, add);
    Problem norm(norm_case, widened ? InF32(options) : options, kDataKinds, cols);
    CopyVectors(fused, &norm);
    for (int64_t row = 0; row < norm.rows(); ++row) {
      for (int64_t col = 0; col < cols; ++col) {
        norm.Set(kX, row, col, RoundF32To(static_cast<float>(add.Get(kSumOut, row, col)), d.sum));
      }
    }
    RunOn(target, norm);
    EXPECT_TRUE(SameBits(target, OutputBits(norm, kY), wanted_y, fused)) << "y, widened: " << widened;
    if (fused.Has(kSumOut) && !widened) {
      EXPECT_TRUE(SameBits(target, OutputBits(add, kSumOut), OutputBits(fused, kSumOut), fused)) << "sum_out";
    }
    for (const Operand statistic : {kMean, kRstd}) {
      if (!fused.Has(statistic)) continue;
      EXPECT_TRUE(SameBits(target, OutputBits(norm, statistic), OutputBits(fused, statistic), fused))
          << OperandName(statistic);
    }
  }
}

TEST(Fusion, AddThenNorm) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!AddsBefore(op_case.op()) || !IsNorm(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : kLengths) {
        CheckAddNorm(op_case, options, cols, false);
        CheckAddNorm(op_case, options, cols, true);
      }
      if (HasFailure()) return;
    }
    // Sums without a place in memory are added in pieces, of the bias too.
    Options pieces = OptionsOf(op_case)[1];
    pieces.bias = VectorType::kF32;
    pieces.sum_out = false;
    pieces.name = "pieces";
    CheckAddNorm(op_case, pieces, 1100, false);
    pieces.bias = VectorType::kStorage;
    CheckAddNorm(op_case, pieces, 1100, false);
  }
}

// *NormAdd against the norm into norm_out_dtype, then Add. The sequence works on f32 copies of x and residual, which
// makes every combination a promised one; `typed` uses the dtypes of the fused call, where norm_out_dtype is x's.
void CheckNormAdd(const OpCase& fused_case, const Options& options, int64_t cols, bool typed) {
  const addnorm_dtypes& d = fused_case.dtypes;
  const addnorm_dtype norm_out = options.norm_out_dtype == 0 ? d.x : options.norm_out_dtype;
  if (typed && norm_out != d.x) return;
  Problem fused(fused_case, options, kDataKinds, cols);
  fused.FillByKind(static_cast<uint64_t>(cols) * 17);
  const addnorm_dtype wide = ADDNORM_F32;
  const OpCase& norm_case = FindOpCase(NormOf(fused_case.op()), {typed ? d.x : wide, 0, 0, norm_out, 0});
  const OpCase& add_case = typed ? FindOpCase(ADDNORM_OP_ADD, {norm_out, d.residual, d.y, 0, 0})
                                 : FindOpCase(ADDNORM_OP_ADD, {norm_out, wide, wide, 0, 0});
  const Options sequence = typed ? options : InF32(options);
  Options add_options = sequence;
  add_options.bias = VectorType::kAbsent;
  Problem norm(norm_case, sequence, kDataKinds, cols);
  CopyRows(fused, kX, &norm, kX);
  CopyVectors(fused, &norm);
  for (const std::string& target : TestedTargets()) {
    RunOn(target, fused);
    RunOn(target, norm);
    Problem add(add_case, add_options, kDataKinds, cols);
    CopyRows(norm, kY, &add, kX);
    CopyRows(fused, kResidual, &add, kResidual);
    RunOn(target, add);
    int64_t different = 0;
    for (int64_t row = 0; row < fused.rows(); ++row) {
      for (int64_t col = 0; col < cols; ++col) {
        const float rounded = RoundF32To(static_cast<float>(add.Get(kSumOut, row, col)), d.y);
        const float got = static_cast<float>(fused.Get(kY, row, col));
        if (std::isnan(rounded) ? !std::isnan(got) : BitsOf(rounded) != BitsOf(got)) ++different;
      }
    }
    CountChecks(target, fused.rows() * cols);
    EXPECT_EQ(different, 0) << fused_case.name << " [" << options.name << "] " << cols << " on " << target
                            << ", typed: " << typed;
    for (const Operand statistic : {kMean, kRstd}) {
      if (!fused.Has(statistic)) continue;
      EXPECT_TRUE(SameBits(target, OutputBits(norm, statistic), OutputBits(fused, statistic), fused))
          << OperandName(statistic);
    }
  }
}

TEST(Fusion, NormThenAdd) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!AddsAfter(op_case.op())) continue;
    std::vector<Options> all = OptionsOf(op_case);
    for (const addnorm_dtype norm_out : {ADDNORM_F32, ADDNORM_F16, ADDNORM_BF16}) {
      all.push_back(all[1]);
      all.back().name += std::string(", norm_out ") + DtypeName(norm_out);
      all.back().norm_out_dtype = norm_out;
    }
    for (const Options& options : all) {
      for (const int64_t cols : kLengths) {
        CheckNormAdd(op_case, options, cols, false);
        CheckNormAdd(op_case, options, cols, true);
      }
      if (HasFailure()) return;
    }
  }
}

// sum_out, mean and rstd change nothing else, alone or together, and their dtype only rounds. Nor do the statistics
// depend on whether the sum has a place in memory or is added in pieces.
TEST(Fusion, OutputsThatAreAskedForNeverChangeY) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    for (Options options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 16, 67, 131}) {
        for (const std::string& target : TestedTargets()) {
          std::string wanted, wanted_statistics;
          std::vector<double> wide_rstd;
          for (const bool sum_out : {false, true}) {
            for (const addnorm_dtype statistics :
                 {addnorm_dtype{0}, addnorm_dtype{ADDNORM_F64}, addnorm_dtype{ADDNORM_F32}}) {
              options.sum_out = sum_out;
              options.mean = IsLayerNorm(op_case.op()) ? statistics : 0;
              options.rstd = statistics;
              Problem problem(op_case, options, kDataKinds, cols);
              problem.FillByKind(23);
              RunOn(target, problem);
              if (wanted.empty()) wanted = OutputBits(problem, kY);
              EXPECT_TRUE(SameBits(target, OutputBits(problem, kY), wanted, problem));
              if (statistics == ADDNORM_F64) {
                wide_rstd.clear();
                for (int64_t row = 0; row < kDataKinds; ++row) wide_rstd.push_back(problem.Get(kRstd, row));
                std::string statistics_bits = OutputBits(problem, kRstd);
                if (problem.Has(kMean)) statistics_bits += OutputBits(problem, kMean);
                if (wanted_statistics.empty()) wanted_statistics = statistics_bits;
                EXPECT_TRUE(SameBits(target, statistics_bits, wanted_statistics, problem));
              } else if (statistics == ADDNORM_F32) {
                for (int64_t row = 0; row < kDataKinds; ++row) {
                  const double rounded = RoundF64To(wide_rstd[static_cast<size_t>(row)], ADDNORM_F32);
                  const double got = problem.Get(kRstd, row);
                  EXPECT_TRUE(got == rounded || (std::isnan(got) && std::isnan(rounded))) << op_case.name;
                }
              }
            }
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

// addnorm_mean_variance against its two halves, rms against mean_square, and f32 results against f64 ones.
TEST(Fusion, Reductions) {
  for (const addnorm_dtype x : {ADDNORM_F32, ADDNORM_BF16, ADDNORM_F16}) {
    for (const addnorm_dtype written : {ADDNORM_F64, ADDNORM_F32}) {
      for (const int64_t cols : kLengths) {
        Options options;
        options.statistics = written;
        const auto make = [&](addnorm_op op) {
          Problem problem(FindOpCase(op, {x, 0, 0, 0, 0}), options, kDataKinds, cols);
          problem.FillByKind(static_cast<uint64_t>(cols));
          return problem;
        };
        Problem both = make(ADDNORM_OP_MEAN_VARIANCE), mean = make(ADDNORM_OP_MEAN),
                variance = make(ADDNORM_OP_VARIANCE);
        Problem mean_square = make(ADDNORM_OP_MEAN_SQUARE), rms = make(ADDNORM_OP_RMS);
        for (const std::string& target : TestedTargets()) {
          for (Problem* problem : {&both, &mean, &variance, &mean_square, &rms}) RunOn(target, *problem);
          EXPECT_TRUE(SameBits(target, OutputBits(both, kMean), OutputBits(mean, kMean), both));
          EXPECT_TRUE(SameBits(target, OutputBits(both, kVariance), OutputBits(variance, kVariance), both));
          if (written != ADDNORM_F64) continue;
          for (int64_t row = 0; row < kDataKinds; ++row) {
            const double root = std::sqrt(mean_square.Get(kMeanSquare, row)), got = rms.Get(kRms, row);
            EXPECT_TRUE(root == got || (std::isnan(root) && std::isnan(got))) << cols << " row " << row;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
