// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Test data of many kinds, the same bits on every platform: everything is made of integers and scaled by powers of two.
#ifndef ADDNORM_TESTS_SUPPORT_INPUTS_H_
#define ADDNORM_TESTS_SUPPORT_INPUTS_H_

#include <cstdint>
#include <vector>

#include "addnorm/addnorm.h"

namespace addnorm_test {

// splitmix64 (Steele, Lea & Flood, 2014).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 ... n - 1.
  uint64_t Below(uint64_t n) { return (Next() >> 32) * n >> 32; }
  // Nearly normal with standard deviation 2^21 (and mean 0): the sum of 12 uniform integers.
  int64_t Normal();

 private:
  uint64_t state_;
};

// The kinds of rows. "Hard" ones take the paths that plain data does not: the second pass of LayerNorm, the exact
// squares of RMSNorm, the apply in f64.
enum class DataKind {
  kNormal,
  kUniform,
  kOutlier,      // one element 4096 times the others
  kMeanNear,     // mean / std = 100: most of it would pass with one pass over the row
  kMeanFar,      // mean / std = 1000
  kMeanVeryFar,  // mean / std = 10^5
  kOneUlp,       // a constant but for some elements one ULP above
  kHuge,         // near the overflow of the sum of squares, and beyond
  kNearMax,      // up to the largest finite value
  kTiny,         // squares underflow
  kSubnormal,    // subnormals only
  kAlternating,  // +a, -a
  kTwoValued,    // a or b
  kConstant,
  kZeros,
  kOneNonZero,
  kWideRange,   // exponents over 40 binades
  kCancelling,  // large values that cancel, and small ones
  kRamp,        // 1, 2, 3 ...
  kCount
};

constexpr int kDataKinds = static_cast<int>(DataKind::kCount);
const char* DataKindName(DataKind kind);

// `n` elements of a kind, fit for the range of `dtype` and exact in it (so that storing them does not round).
std::vector<float> MakeRow(DataKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed);

// The kinds of gamma, beta and bias.
enum class VectorKind {
  kUsual,    // gamma around 1, beta around 0
  kExtreme,  // tiny, huge, zero and negative elements
};

std::vector<float> MakeGamma(VectorKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed);
std::vector<float> MakeBeta(VectorKind kind, addnorm_dtype dtype, int64_t n, uint64_t seed);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_INPUTS_H_
