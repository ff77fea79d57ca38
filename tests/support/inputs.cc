// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/inputs.h"

#include <cmath>

#include "support/dtype.h"

namespace addnorm_test {
namespace {

constexpr int kNormalBits = 21;  // Rng::Normal() is a multiple of 2^-21 standard deviations

// `value` * 2^exponent, rounded to the dtype.
float Scaled(int64_t value, int exponent, addnorm_dtype dtype) {
  return RoundF32To(static_cast<float>(std::ldexp(static_cast<double>(value), exponent)), dtype);
}

// The next value of the dtype above a positive one.
float NextUp(float v, addnorm_dtype dtype) {
  if (dtype == ADDNORM_F32) return F32OfBits(BitsOf(v) + 1);
  const float up = dtype == ADDNORM_F16 ? F16ToF32(static_cast<uint16_t>(F32ToF16(v) + 1))
                                        : Bf16ToF32(static_cast<uint16_t>(F32ToBf16(v) + 1));
  return up;
}

float Element(DataKind kind, addnorm_dtype dtype, int64_t i, int64_t n, Rng& rng, uint64_t choice) {
  const Format f = FormatOf(dtype);
  const int64_t one = int64_t{1} << kNormalBits;
  const float base = Scaled(3 + static_cast<int64_t>(choice % 61), -4, dtype);
  const uint64_t random = rng.Next();
  const int64_t normal = rng.Normal();
  switch (kind) {
    case DataKind::kNormal:
      return Scaled(normal, -kNormalBits, dtype);
    case DataKind::kUniform:
      return Scaled(static_cast<int64_t>(random >> 32) - (int64_t{1} << 31), -31, dtype);
    case DataKind::kOutlier:
      return Scaled(normal,
                    i == static_cast<int64_t>(choice % static_cast<uint64_t>(n)) ? 10 - kNormalBits : -2 - kNormalBits,
                    dtype);
    case DataKind::kMeanNear:
      return Scaled(100 * one + normal, -kNormalBits, dtype);
    case DataKind::kMeanFar:
      return Scaled(1000 * one + normal, -kNormalBits, dtype);
    case DataKind::kMeanVeryFar:
      return Scaled(100000 * one + normal, -kNormalBits - (dtype == ADDNORM_F16 ? 3 : 0), dtype);
    case DataKind::kOneUlp:
      return random % 5 == 0 ? NextUp(base, dtype) : base;
    case DataKind::kHuge:
      return Scaled(normal, f.max_exponent - 3 - static_cast<int>(choice % 62) % f.max_exponent - kNormalBits, dtype);
    case DataKind::kNearMax: {
      const float largest = static_cast<float>(MaxFinite(dtype));
      const float size = random % 3 == 0 ? largest : random % 3 == 1 ? largest / 2 : largest / 4;
      return (random >> 8) % 2 == 0 ? size : -size;
    }
    case DataKind::kTiny:
      return Scaled(normal, (dtype == ADDNORM_F16 ? -17 : -60 - static_cast<int>(choice % 70)) - kNormalBits, dtype);
    case DataKind::kSubnormal:
      return Scaled(static_cast<int64_t>(random % 31) - 15, f.min_exponent + 1 - f.digits, dtype);
    case DataKind::kAlternating:
      return i % 2 == 0 ? base : -base;
    case DataKind::kTwoValued:
      return random % 2 == 0 ? base : base * 2;
    case DataKind::kConstant:
      return base;
    case DataKind::kOneNonZero:
      return i == static_cast<int64_t>(choice % static_cast<uint64_t>(n)) ? -base : 0.0f;
    case DataKind::kWideRange: {
      const int exponent = static_cast<int>(random % 41) - 20;
      return Scaled(normal, (dtype == ADDNORM_F16 ? exponent / 2 : exponent) - kNormalBits, dtype);
    }
    case DataKind::kCancelling:
      return i % 3 == 2 ? Scaled(normal, -kNormalBits, dtype) : i % 3 == 0 ? base * 512 : -base * 512;
    case DataKind::kRamp:
      return Scaled(1 + i % 2048, 0, dtype);
    case DataKind::kZeros:
    default:
      return 0.0f;
  }
}

}  // namespace

int64_t Rng::Normal() {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t bits = Next();
    sum += static_cast<int64_t>(bits & 0x1fffff) + static_cast<int64_t>((bits >> 21) & 0x1fffff) +
           static_cast<int64_t>((bits >> 42) & 0x1fffff);
  }
  return sum - 12 * (int64_t{1} << (kNormalBits - 1));
}

const char* DataKindName(DataKind kind) {
  static const char* const kNames[] = {"normal",        "uniform",     "outlier",    "mean_near", "mean_far",
                                       "mean_very_far", "one_ulp",     "huge",       "near_max",  "tiny",
                                       "subnormal",     "alternating", "two_valued", "constant",  "zeros",
                                       "one_nonzero",   "wide_range",  "cancelling", "ramp"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kDataKinds, "a name for each kind");
  return kNames[static_cast<int>(kind)];
}

std::vector<float> MakeRow(DataKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed) {
  Rng rng(seed * 1000003u + static_cast<uint64_t>(kind));
  const uint64_t choice = rng.Next();
  std::vector<float> row(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = Element(kind, dtype, i, n, rng, choice);
  return row;
}

std::vector<float> MakeGamma(VectorKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed) {
  Rng rng(seed * 7919u + 1);
  const int far = dtype == ADDNORM_F16 ? 12 : 100;
  std::vector<float> gamma(static_cast<size_t>(n));
  for (float& g : gamma) {
    const int64_t around_one = 4 * (int64_t{1} << kNormalBits) + rng.Normal();
    const uint64_t random = rng.Next();
    int exponent = -kNormalBits - 2;
    if (kind == VectorKind::kExtreme) exponent += random % 8 == 0 ? far : random % 8 == 1 ? -far : 0;
    g = Scaled(around_one, exponent, dtype);
    if (kind == VectorKind::kExtreme && random % 8 == 2) g = 0.0f;
    if (kind == VectorKind::kExtreme && random % 8 == 3) g = -g;
  }
  return gamma;
}

std::vector<float> MakeBeta(VectorKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed) {
  Rng rng(seed * 7919u + 2);
  const int far = dtype == ADDNORM_F16 ? 10 : 100;
  std::vector<float> beta(static_cast<size_t>(n));
  for (float& b : beta) {
    const int64_t normal = rng.Normal();
    const uint64_t random = rng.Next();
    int exponent = -kNormalBits - 1;
    if (kind == VectorKind::kExtreme) exponent += random % 8 == 0 ? far : random % 8 == 1 ? -far : 0;
    b = Scaled(normal, exponent, dtype);
    if (kind == VectorKind::kExtreme && random % 8 == 2) b = 0.0f;
    if (kind == VectorKind::kExtreme && random % 8 == 3) b = -0.0f;
  }
  return beta;
}

}  // namespace addnorm_test
