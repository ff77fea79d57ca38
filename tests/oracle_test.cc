// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The tests' own tools, against known values and MPFR alone: who tests the tests.
#include "support/oracle.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/inputs.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

OracleRow NormRow(addnorm_op op, const std::vector<float>& x, double epsilon) {
  OracleRow row;
  row.op = op;
  row.cols = static_cast<int64_t>(x.size());
  row.x = x.data();
  row.epsilon = epsilon;
  return row;
}

TEST(Oracle, KnownValues) {
  Oracle oracle;
  const std::vector<float> x = {1, 2, 3, 4};
  const OracleResult& layer = oracle.Compute(NormRow(ADDNORM_OP_LAYER_NORM, x, 0.0));
  EXPECT_EQ(layer.mean.hi, 2.5);
  EXPECT_EQ(layer.variance.hi, 1.25);
  EXPECT_EQ(layer.mean_square.hi, 7.5);
  EXPECT_NEAR(layer.y[0].value.hi, -1.3416407864998738, 1e-16);  // -3 / sqrt(5)
  EXPECT_EQ(layer.bound, kLayerNormBound);
  const OracleResult& rms = oracle.Compute(NormRow(ADDNORM_OP_RMS_NORM, x, 0.0));
  EXPECT_NEAR(rms.y[3].value.hi, 1.4605934866804429, 1e-15);  // 4 / sqrt(7.5)
  EXPECT_EQ(rms.bound, kRmsNormBound);
  const std::vector<float> sixes = {6, 8};
  EXPECT_NEAR(oracle.Compute(NormRow(ADDNORM_OP_RMS_NORM, sixes, 50.0)).y[0].value.hi, 0.6, 1e-16);
}

TEST(Oracle, HardRows) {
  Oracle oracle;
  const std::vector<float> constant(5, 1e15f), large = {3e38f, -3e38f}, tiny = {1e-45f, 3e-45f};
  const OracleResult& c = oracle.Compute(NormRow(ADDNORM_OP_LAYER_NORM, constant, 0.0));
  EXPECT_TRUE(c.constant && c.zero_denominator);
  EXPECT_EQ(c.y[2].value.hi, 0.0);
  const OracleResult& l = oracle.Compute(NormRow(ADDNORM_OP_LAYER_NORM, large, 0.0));
  EXPECT_TRUE(l.wide);
  EXPECT_EQ(l.y[0].value.hi, 1.0);
  const OracleResult& t = oracle.Compute(NormRow(ADDNORM_OP_LAYER_NORM, tiny, 0.0));
  EXPECT_TRUE(t.wide);
  EXPECT_EQ(t.y[1].value.hi, 1.0);
  const std::vector<float> nan = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(oracle.Compute(NormRow(ADDNORM_OP_RMS_NORM, nan, 0.0)).y[0].nan);
  const std::vector<float> inf = {1.0f, std::numeric_limits<float>::infinity()};
  EXPECT_TRUE(oracle.Compute(NormRow(ADDNORM_OP_LAYER_NORM, inf, 0.0)).y[0].nan);
  const OracleResult& r = oracle.Compute(NormRow(ADDNORM_OP_RMS_NORM, inf, 0.0));
  EXPECT_TRUE(r.y[1].nan);
  EXPECT_FALSE(r.y[0].nan);
  EXPECT_EQ(r.y[0].value.hi, 0.0);
}

// A rounding point of the formula: 257 becomes 256 in bf16, and statistics start from there.
TEST(Oracle, RoundingPoints) {
  Oracle oracle;
  const std::vector<float> x = {256, 256}, residual = {1, 2};
  OracleRow row = NormRow(ADDNORM_OP_ADD_RMS_NORM, x, 0.0);
  row.residual = residual.data();
  row.sum_dtype = ADDNORM_BF16;
  EXPECT_NEAR(oracle.Compute(row).y[0].value.hi, 0.99610141, 1e-8);
  row.sum_dtype = ADDNORM_F32;
  EXPECT_NEAR(oracle.Compute(row).y[0].value.hi, 0.99805637, 1e-8);
  // norm_dtype: t = 1.3416... is 1.34375 in bf16.
  const std::vector<float> four = {1, 2, 3, 4};
  row = NormRow(ADDNORM_OP_LAYER_NORM, four, 0.0);
  row.norm_dtype = ADDNORM_BF16;
  const OracleResult& rounded = oracle.Compute(row);
  EXPECT_EQ(rounded.y[3].value.hi, 1.34375);
  EXPECT_EQ(rounded.y[3].other.hi, 1.34375);
  // norm_out_dtype: n is rounded, then the residual is added exactly.
  const std::vector<float> small = {0x1p-20f, 0x1p-20f, 0x1p-20f, 0x1p-20f};
  row = NormRow(ADDNORM_OP_LAYER_NORM_ADD, four, 0.0);
  row.residual = small.data();
  row.norm_out_dtype = ADDNORM_BF16;
  EXPECT_EQ(oracle.Compute(row).y[3].value.hi, 1.34375 + 0x1p-20);
}

// An infinite gamma makes NaN of what norm_dtype rounds to zero.
TEST(Oracle, InfiniteGamma) {
  Oracle oracle;
  const std::vector<float> x = {1, 0x1p-26f, -0x1p-26f, -1};
  const std::vector<float> gamma(4, std::numeric_limits<float>::infinity());
  OracleRow row = NormRow(ADDNORM_OP_RMS_NORM, x, 0.0);
  row.gamma = gamma.data();
  const OracleResult& plain = oracle.Compute(row);
  EXPECT_EQ(plain.y[1].value.hi, std::numeric_limits<double>::infinity());
  EXPECT_EQ(plain.y[2].value.hi, -std::numeric_limits<double>::infinity());
  row.norm_dtype = ADDNORM_F16;
  const OracleResult& rounded = oracle.Compute(row);
  EXPECT_TRUE(rounded.y[1].nan && rounded.y[2].nan);
  EXPECT_EQ(rounded.y[3].value.hi, -std::numeric_limits<double>::infinity());
}

// So does an infinite residual of a norm that overflows the other way.
TEST(Oracle, InfiniteResidual) {
  Oracle oracle;
  const std::vector<float> x = {1, -1}, gamma = {0x1p20f, 0x1p20f};
  const std::vector<float> residual(2, std::numeric_limits<float>::infinity());
  OracleRow row = NormRow(ADDNORM_OP_RMS_NORM_ADD, x, 0.0);
  row.gamma = gamma.data();
  row.residual = residual.data();
  EXPECT_FALSE(oracle.Compute(row).y[1].nan);
  EXPECT_EQ(oracle.Compute(row).y[1].value.hi, std::numeric_limits<double>::infinity());
  row.norm_out_dtype = ADDNORM_F16;
  EXPECT_FALSE(oracle.Compute(row).y[0].nan);
  EXPECT_TRUE(oracle.Compute(row).y[1].nan);
}

// Long double has what it takes to be the first judge.
TEST(QuickOracle, AgreesWithMpfr) {
  Oracle oracle;
  QuickOracle quick;
  for (const addnorm_op op : {ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM}) {
    for (int kind = 0; kind < kDataKinds; ++kind) {
      const std::vector<float> x = MakeRow(static_cast<DataKind>(kind), ADDNORM_F32, 67, 5);
      const OracleResult& wanted = oracle.Compute(NormRow(op, x, 0.0));
      const OracleResult& got = quick.Compute(NormRow(op, x, 0.0));
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(got.y[i].value.hi, wanted.y[i].value.hi, 0x1p-10 * Ulp32(wanted.y[i].magnitude))
            << DataKindName(static_cast<DataKind>(kind));
      }
    }
  }
}

TEST(Oracle, FusedF32IsRoundedOnce) {
  mpfr_t a, b, c;
  mpfr_inits2(24, a, b, c, static_cast<mpfr_ptr>(nullptr));
  mpfr_t result;
  mpfr_init2(result, 24);
  const mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  Rng rng(1);
  for (int i = 0; i < 300000; ++i) {
    const float fa = F32OfBits(static_cast<uint32_t>(rng.Next())), fb = F32OfBits(static_cast<uint32_t>(rng.Next()));
    float fc = F32OfBits(static_cast<uint32_t>(rng.Next()));
    if (!std::isfinite(fa) || !std::isfinite(fb) || !std::isfinite(fc)) continue;
    if (i % 2 == 0) fc = -static_cast<float>(static_cast<double>(fa) * static_cast<double>(fb));  // cancels
    if (!std::isfinite(fc)) continue;
    mpfr_set_flt(a, fa, MPFR_RNDN);
    mpfr_set_flt(b, fb, MPFR_RNDN);
    mpfr_set_flt(c, fc, MPFR_RNDN);
    const int inexact = mpfr_fma(result, a, b, c, MPFR_RNDN);
    mpfr_subnormalize(result, inexact, MPFR_RNDN);
    ASSERT_EQ(FusedF32(fa, fb, fc), mpfr_get_flt(result, MPFR_RNDN)) << fa << " * " << fb << " + " << fc;
  }
  mpfr_set_emin(old_min);
  mpfr_set_emax(old_max);
  mpfr_clears(a, b, c, result, static_cast<mpfr_ptr>(nullptr));
}

TEST(Dtype, Conversions) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t pattern = static_cast<uint16_t>(bits);
    for (const addnorm_dtype dtype : {ADDNORM_F16, ADDNORM_BF16}) {
      const float v = dtype == ADDNORM_F16 ? F16ToF32(pattern) : Bf16ToF32(pattern);
      if (std::isnan(v)) continue;
      ASSERT_EQ(dtype == ADDNORM_F16 ? F32ToF16(v) : F32ToBf16(v), pattern);
      ASSERT_EQ(RoundF64To(static_cast<double>(v), dtype), static_cast<double>(v));
    }
  }
  // Two independent roundings agree, ties included.
  Rng rng(2);
  for (int i = 0; i < 1000000; ++i) {
    uint32_t bits = static_cast<uint32_t>(rng.Next());
    if (i % 3 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
    if (i % 3 == 1) bits = (bits & 0xffffe000u) | 0x1000u;
    const float v = F32OfBits(bits);
    if (std::isnan(v)) continue;
    for (const addnorm_dtype dtype : {ADDNORM_F16, ADDNORM_BF16}) {
      ASSERT_EQ(static_cast<double>(RoundF32To(v, dtype)), RoundF64To(static_cast<double>(v), dtype)) << v;
    }
  }
  EXPECT_EQ(F32ToF16(65519.99f), 0x7bff);
  EXPECT_EQ(F32ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(F32ToF16(0x1p-25f), 0x0000);
  EXPECT_EQ(F32ToF16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(F32ToBf16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Ulp, Errors) {
  Expected e;
  e.value = e.other = {1.0, 0x1p-60};
  e.magnitude = 1.0;
  EXPECT_EQ(Ulp32(1.0), 0x1p-23);
  EXPECT_EQ(Ulp32(0.0), 0x1p-149);
  EXPECT_EQ(Ulp32(0x1p130), 0x1p107);  // not capped
  EXPECT_NEAR(ErrorUlp(1.0 + 0x1p-22, ADDNORM_F32, e), 2.0, 1e-9);
  EXPECT_EQ(ErrorUlp(1.0, ADDNORM_BF16, e), 0.0);
  // The next bf16 is right only where the bound reaches the middle: 2^-8 away, 2^15 ULP of f32.
  EXPECT_NEAR(ErrorUlp(1.0 + 0x1p-7, ADDNORM_BF16, e), 0x1p15, 1.0);
  e.value = e.other = {0x1p128 - 0x1p104, 0.0};
  e.magnitude = 0x1p128 - 0x1p104;
  EXPECT_EQ(ErrorUlp(std::numeric_limits<double>::infinity(), ADDNORM_F32, e), 0.5);
  e.nan = true;
  EXPECT_EQ(ErrorUlp(std::numeric_limits<double>::quiet_NaN(), ADDNORM_F32, e), 0.0);
  EXPECT_TRUE(std::isinf(ErrorUlp(1.0, ADDNORM_F32, e)));
}

}  // namespace
}  // namespace addnorm_test
