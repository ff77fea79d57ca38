// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The worked examples of the field, and wrong values that users reported in other systems, each with its whole kind of
// input. The addresses are those of the reports.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/examples.h"

namespace addnorm_test {
namespace {

constexpr double kSevenDigits = 1.5e-7;  // f32 values printed with 9 digits, and the bound near 1

std::vector<float> Alternate(size_t n, float a, float b) {
  std::vector<float> row(n);
  for (size_t i = 0; i < n; ++i) row[i] = i % 2 == 0 ? a : b;
  return row;
}

TEST(WorkedExamples, OneTwoThreeFour) {
  Problem moments = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F32), {{1, 2, 3, 4}});
  OnEveryTarget(moments, [](const Problem& p, const std::string&) {
    EXPECT_EQ(p.Get(kMean, 0), 2.5);
    EXPECT_EQ(p.Get(kVariance, 0), 1.25);
  });
  for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16, ADDNORM_F16}) {
    Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, dtype), {{1, 2, 3, 4}});
    OnEveryTarget(norm, [](const Problem& p, const std::string& target) {
      ExpectNear(Written(p, kY), {-1.34, -0.45, 0.45, 1.34}, 0.01, target);
    });
  }
}

TEST(WorkedExamples, GammaAndBeta) {
  Options options;
  options.gamma = options.beta = VectorType::kF32;
  options.epsilon = 1.0 / 3.0;  // variance 2/3: the row is normalized to itself
  Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {{-1, 0, 1}}, options);
  norm.Set(kGamma, 0, {2, 1, 0.5f});
  norm.Set(kBeta, 0, {1, 0, -1});
  OnEveryTarget(norm, [](const Problem& p, const std::string&) {
    EXPECT_EQ(Written(p, kY), (std::vector<double>{-1, 0, -0.5}));
  });
}

// Shape [2, 3, 4]: six tokens, each normalized alone; batch 1, time 1 gives the bits that the token has inside the
// batch.
TEST(WorkedExamples, TokensOfABatch) {
  for (const OpCase& op_case : AllOpCases()) {
    Problem batch(op_case, OptionsOf(op_case)[1], 6, 4);
    batch.Fill(DataKind::kNormal, 1);
    for (const std::string& target : TestedTargets()) {
      RunOn(target, batch);
      for (int64_t token = 0; token < 6; ++token) {
        Problem alone(op_case, OptionsOf(op_case)[1], 1, 4);
        alone.CopyInputs(batch, token);
        EXPECT_TRUE(SameBits(target, RunOn(target, alone), batch.OutputsOfRows(token, 1), alone));
      }
    }
  }
}

// https://github.com/microsoft/onnxruntime/issues/21935
TEST(ReportedFaults, ConstantRowGivesBeta) {
  for (const float value : {1234.0f, -0.1f, 1e-30f, 3e38f}) {
    Options options;
    options.gamma = options.beta = VectorType::kF32;
    for (const double epsilon : {1e-5, 0.0}) {
      options.epsilon = epsilon;
      Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {Constant(256, value)}, options);
      norm.FillVectors(1);
      OnEveryTarget(norm, [](const Problem& p, const std::string&) {
        for (int64_t i = 0; i < p.cols(); ++i) ASSERT_EQ(p.Get(kY, 0, i), static_cast<double>(p.Input(kBeta, 0, i)));
      });
    }
    Problem plain = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {Constant(256, value)});
    OnEveryTarget(plain, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, 0.0, target); });
  }
}

// https://github.com/microsoft/onnxruntime/issues/28463, https://github.com/apache/tvm/issues/19592
TEST(ReportedFaults, MeanFarFromZero) {
  const Rows rows = {{40000, 40001, 40002, 40003}, {80000, 80001, 80002, 80003}};
  Problem moments = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F32), rows);
  OnEveryTarget(moments, [](const Problem& p, const std::string&) {
    EXPECT_EQ(p.Get(kMean, 0), 40001.5);
    EXPECT_EQ(p.Get(kMean, 1), 80001.5);
    EXPECT_EQ(p.Get(kVariance, 0), 1.25);
    EXPECT_EQ(p.Get(kVariance, 1), 1.25);
  });
  Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), rows);
  OnEveryTarget(norm, [](const Problem& p, const std::string& target) {
    for (int64_t row = 0; row < 2; ++row) {
      ExpectNear(Written(p, kY, row), {-1.34163542, -0.447211807, 0.447211807, 1.34163542}, kSevenDigits, target);
    }
  });
}

// https://github.com/pytorch/pytorch/issues/51102, https://github.com/pytorch/pytorch/pull/40307
TEST(ReportedFaults, SmallSpreadAroundALargeMean) {
  const Rows rows = {{2000.125f, 2000.5f, 1998.5f, 2001.125f}};
  Problem variance = Example(Uniform(ADDNORM_OP_VARIANCE, ADDNORM_F32), rows);
  OnEveryTarget(variance, [](const Problem& p, const std::string&) { EXPECT_EQ(p.Get(kVariance, 0), 0.94140625); });
  Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), rows);
  OnEveryTarget(norm, [](const Problem& p, const std::string& target) {
    ExpectNear(Written(p, kY), {0.0644153205, 0.450907244, -1.61038301, 1.09506045}, kSevenDigits, target);
  });
  Problem twin(Uniform(ADDNORM_OP_VARIANCE, ADDNORM_F32), Options(), 1, 32768);
  Rng rng(4);
  for (int64_t i = 0; i < twin.cols(); ++i) {
    twin.Set(kX, 0, i,
             static_cast<float>(std::ldexp(static_cast<double>((int64_t{100} << 21) * 100 + rng.Normal()), -21) / 100));
  }
  OnEveryTarget(twin, [](const Problem& p, const std::string&) { EXPECT_NEAR(p.Get(kVariance, 0), 1e-4, 2e-6); });
}

// https://github.com/pytorch/pytorch/issues/5410, https://github.com/intel/torch-xpu-ops/pull/1374
TEST(ReportedFaults, ConstantRowWhoseMeanRounds) {
  struct {
    int64_t cols;
    float value;
  } const kRows[] = {{5, 1e15f}, {768, 1e10f},  {768, 0.1f},        {100, 1234.567f},
                     {3, 0.1f},  {65537, 0.1f}, {1000, 16777215.0f}};
  for (const auto& row : kRows) {
    for (const double epsilon : {1e-5, 0.0}) {
      Options options;
      options.epsilon = epsilon;
      Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {Constant(row.cols, row.value)}, options);
      OnEveryTarget(norm, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, 0.0, target); });
    }
    Problem moments = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F32), {Constant(row.cols, row.value)});
    OnEveryTarget(moments, [&](const Problem& p, const std::string&) {
      EXPECT_EQ(p.Get(kMean, 0), static_cast<double>(row.value));
      EXPECT_EQ(p.Get(kVariance, 0), 0.0);
    });
  }
}

// The mean is a division by the number of columns: with a reciprocal the mean of ones is not 1 for 49 columns.
TEST(ReportedFaults, ConstantRowOfAnyLength) {
  for (int64_t cols = 1; cols <= 200; ++cols) {
    Problem moments = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F32),
                              {Constant(cols, 1.0f), Constant(cols, 0.1f), Constant(cols, -7e30f)});
    OnEveryTarget(moments, [](const Problem& p, const std::string& target) {
      for (int64_t row = 0; row < p.rows(); ++row) {
        ASSERT_EQ(p.Get(kMean, row), static_cast<double>(p.Input(kX, row, 0))) << p.cols() << " columns on " << target;
        ASSERT_EQ(p.Get(kVariance, row), 0.0) << p.cols() << " columns on " << target;
      }
    });
  }
}

// https://github.com/pytorch/pytorch/pull/178123, https://github.com/microsoft/onnxruntime/pull/32574
TEST(ReportedFaults, SquaresOverflowOrUnderflow) {
  for (const float m : {1e15f, 1e18f, 1e19f, 1e25f, 1e35f, 3.4e38f, 1e-20f, 1e-30f, 1e-45f}) {
    Options options;
    options.epsilon = m < 1.0f ? 0.0 : 1e-5;
    Problem rms = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F32), {Constant(512, m)}, options);
    OnEveryTarget(rms, [](const Problem& p, const std::string& target) {
      ExpectNear(Written(p, kY), std::vector<double>(512, 1.0), kSevenDigits, target);
    });
    if (m < 1.0f || m > 1e38f) continue;
    Problem layer = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {Alternate(512, m, 2 * m)}, options);
    OnEveryTarget(layer, [](const Problem& p, const std::string& target) {
      for (int64_t i = 0; i < p.cols(); ++i) ASSERT_NEAR(p.Get(kY, 0, i), i % 2 == 0 ? -1.0 : 1.0, 3e-7) << target;
    });
  }
  Problem ramp = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {{1e30f, 2e30f, 3e30f, 4e30f}});
  OnEveryTarget(ramp, [](const Problem& p, const std::string& target) {
    ExpectNear(Written(p, kY), {-1.34164083, -0.44721356, 0.447213501, 1.34164083}, kSevenDigits, target);
  });
}

// https://github.com/pytorch/pytorch/pull/133085, https://github.com/ARM-software/ComputeLibrary/issues/1095
TEST(ReportedFaults, F16Squares) {
  Problem rms300 = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F16), {Constant(512, 300)});
  OnEveryTarget(rms300, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, 1.0, target); });
  Problem rms1000 = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F16), {Constant(4096, 1000)});
  OnEveryTarget(rms1000, [](const Problem& p, const std::string& target) { ExpectAll(p, kY, 1.0, target); });
  Problem layer = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F16), {Alternate(512, 500, -500)});
  OnEveryTarget(layer, [](const Problem& p, const std::string& target) {
    for (int64_t i = 0; i < p.cols(); ++i) ASSERT_EQ(p.Get(kY, 0, i), i % 2 == 0 ? 1.0 : -1.0) << target;
  });
  Problem variance = Example(Uniform(ADDNORM_OP_VARIANCE, ADDNORM_F16), {Alternate(512, 500, -500)});
  OnEveryTarget(variance, [](const Problem& p, const std::string&) { EXPECT_EQ(p.Get(kVariance, 0), 250000.0); });
}

// https://github.com/pytorch/pytorch/pull/133085: a residual stream, whose squares leave f16 where its terms' do not.
TEST(ReportedFaults, F16SquaresOfSums) {
  Problem rms =
      Example(Uniform(ADDNORM_OP_ADD_RMS_NORM, ADDNORM_F16), {Constant(512, 200)}, Options(), {Constant(512, 400)});
  OnEveryTarget(rms, [](const Problem& p, const std::string& target) {
    ExpectAll(p, kSumOut, 600.0, target);
    ExpectAll(p, kY, 1.0, target);
  });
  Problem layer = Example(Uniform(ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_F16), {Alternate(512, 200, -200)}, Options(),
                          {Alternate(512, 400, -400)});
  OnEveryTarget(layer, [](const Problem& p, const std::string& target) {
    for (int64_t i = 0; i < p.cols(); ++i) {
      ASSERT_EQ(p.Get(kSumOut, 0, i), i % 2 == 0 ? 600.0 : -600.0) << target;
      ASSERT_EQ(p.Get(kY, 0, i), i % 2 == 0 ? 1.0 : -1.0) << target;
    }
  });
}

// https://github.com/numpy/numpy/issues/21941, /8237, /7930, /7933
TEST(ReportedFaults, F16LongReductions) {
  Problem alternating = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F16), {Alternate(100000, 0, 2)});
  OnEveryTarget(alternating, [](const Problem& p, const std::string&) {
    EXPECT_EQ(p.Get(kMean, 0), 1.0);
    EXPECT_EQ(p.Get(kVariance, 0), 1.0);
  });
  Problem ones = Example(Uniform(ADDNORM_OP_MEAN_VARIANCE, ADDNORM_F16), {Constant(65520, 1)});
  OnEveryTarget(ones, [](const Problem& p, const std::string&) {
    EXPECT_EQ(p.Get(kMean, 0), 1.0);
    EXPECT_EQ(p.Get(kVariance, 0), 0.0);
  });
}

// https://github.com/pytorch/pytorch/issues/41527. y of a row of zeros is 0 without epsilon too: rstd tells them apart.
TEST(ReportedFaults, F16SmallEpsilon) {
  Options options;
  options.rstd = ADDNORM_F64;
  for (const double epsilon : {1e-12, 1e-8, 1e-300}) {
    options.epsilon = epsilon;
    const double root = 1.0 / std::sqrt(epsilon);
    const auto expect_zero = [root](const Problem& p, const std::string& target) {
      ExpectAll(p, kY, 0.0, target);
      for (int64_t row = 0; row < p.rows(); ++row) EXPECT_NEAR(p.Get(kRstd, row), root, 1e-15 * root) << target;
    };
    Problem layer = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F16), {Constant(10, 0), Constant(10, 2)}, options);
    OnEveryTarget(layer, expect_zero);
    Problem rms = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F16), {Constant(10, 0)}, options);
    OnEveryTarget(rms, expect_zero);
  }
  // The smallest value of f16: 2^-24 / sqrt(2^-48 + 1e-12) = 0.0594989; it would be 1 without epsilon.
  options.epsilon = 1e-12;
  Problem smallest = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F16), {Constant(10, 0x1p-24f)}, options);
  OnEveryTarget(smallest, [](const Problem& p, const std::string& target) {
    for (int64_t i = 0; i < p.cols(); ++i) EXPECT_EQ(p.Bits(kY, 0, i), 0x2b9eu) << target;
  });
}

// https://github.com/microsoft/onnxruntime/issues/10228. With epsilon 0 a row of zeros gives 0 (beta), and rstd
// +inf.
TEST(ReportedFaults, ZeroRow) {
  Options options;
  options.rstd = ADDNORM_F64;
  for (const double epsilon : {1e-6, 0.0}) {
    options.epsilon = epsilon;
    for (const addnorm_op op : {ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM}) {
      Problem norm = Example(Uniform(op, ADDNORM_F32), {Constant(8, 0), Constant(8, -0.0f)}, options);
      OnEveryTarget(norm, [&](const Problem& p, const std::string& target) {
        ExpectAll(p, kY, 0.0, target);
        if (epsilon == 0.0) {
          EXPECT_EQ(p.Get(kRstd, 0), std::numeric_limits<double>::infinity());
        } else {
          EXPECT_NEAR(p.Get(kRstd, 0), 1000.0, 1e-9);
        }
      });
    }
  }
  options.epsilon = 1e-6;
  Problem single = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F32), {{-3.0f}, {1e-3f}, {0.0f}}, options);
  OnEveryTarget(single, [](const Problem& p, const std::string& target) {
    EXPECT_EQ(p.Get(kY, 0), -0x1.fffffep-1) << target;  // -0.99999994: without epsilon it would be -1
    EXPECT_EQ(p.Get(kY, 1), static_cast<double>(0.70710678f)) << target;
    EXPECT_EQ(p.Bits(kY, 2), 0u) << target;
  });
}

// https://github.com/Tencent/ncnn/issues/303, https://github.com/openvinotoolkit/openvino/pull/8142
TEST(ReportedFaults, EpsilonIsInsideTheRoot) {
  Options options;
  options.epsilon = 0.1;
  Problem norm = Example(Uniform(ADDNORM_OP_LAYER_NORM, ADDNORM_F32), {{0, 2}}, options);
  Problem rms = Example(Uniform(ADDNORM_OP_RMS_NORM, ADDNORM_F32), {{-1, 1}}, options);
  for (Problem* problem : {&norm, &rms}) {
    OnEveryTarget(*problem, [](const Problem& p, const std::string& target) {
      ExpectNear(Written(p, kY), {-0.953462589, 0.953462589}, kSevenDigits, target);
    });
  }
}

}  // namespace
}  // namespace addnorm_test
