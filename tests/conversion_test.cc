// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The storage conversions of every target, seen through operations that do nothing else: every f16 and bf16 pattern
// through every operand that is read, f32 patterns of every exponent, tie and special value through every operand and
// rounding point that is written. Compared with conversions in integers (support/dtype.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/dtype.h"
#include "support/inputs.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

template <class T>
addnorm_input In(const T* data, int64_t stride, addnorm_dtype dtype) {
  return {data, stride, dtype, 0};
}
template <class T>
addnorm_output Out(T* data, int64_t stride, addnorm_dtype dtype) {
  return {data, stride, dtype, 0};
}

uint16_t Narrow(float value, addnorm_dtype dtype) { return dtype == ADDNORM_F16 ? F32ToF16(value) : F32ToBf16(value); }
float Widen(uint16_t bits, addnorm_dtype dtype) { return dtype == ADDNORM_F16 ? F16ToF32(bits) : Bf16ToF32(bits); }
bool IsNaN16(uint16_t bits, addnorm_dtype dtype) { return std::isnan(Widen(bits, dtype)); }

// Runs `test` on every target and for both 16-bit types.
template <class Test>
void ForEachTargetAndType(const Test& test) {
  for (const std::string& name : TestedTargets()) {
    for (addnorm_dtype dtype : {ADDNORM_F16, ADDNORM_BF16}) {
      SCOPED_TRACE(name + " " + DtypeName(dtype));
      ScopedTarget target(name);
      CountChecks(name, test(dtype));
    }
  }
}

// Operands of `cols` elements, for `rows` rows where they are matrices. Vectors with a pattern have one row.
struct Block {
  int64_t rows = 1;
  int64_t cols = 0;
};

// ---- Load: each gives in `wide` the values of `patterns`.

using Load = void (*)(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype,
                      std::vector<float>* wide);

void LoadAsX(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype, std::vector<float>* wide) {
  const std::vector<float> zero(patterns.size(), -0.0f);
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.rows = block.rows;
  args.cols = block.cols;
  args.x = In(patterns.data(), block.cols, dtype);
  args.residual = In(zero.data(), block.cols, ADDNORM_F32);
  args.sum_out = Out(wide->data(), block.cols, ADDNORM_F32);
  ASSERT_EQ(addnorm_add(&args), ADDNORM_OK);
}

void LoadAsResidual(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype,
                    std::vector<float>* wide) {
  const std::vector<uint16_t> zero(patterns.size(), 0x8000);
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.rows = block.rows;
  args.cols = block.cols;
  args.x = In(zero.data(), block.cols, dtype);
  args.residual = In(patterns.data(), block.cols, dtype);
  args.sum_out = Out(wide->data(), block.cols, ADDNORM_F32);
  ASSERT_EQ(addnorm_add(&args), ADDNORM_OK);
}

void LoadAsBias(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype,
                std::vector<float>* wide) {
  const std::vector<uint16_t> zero(patterns.size(), 0x8000);
  for (int64_t row = 0; row < block.rows; ++row) {
    addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
    args.rows = 1;
    args.cols = block.cols;
    args.x = In(zero.data(), block.cols, dtype);
    args.residual = In(zero.data(), block.cols, dtype);
    args.sum_out = Out(wide->data() + row * block.cols, block.cols, ADDNORM_F32);
    args.bias = In(patterns.data() + row * block.cols, 0, dtype);
    ASSERT_EQ(addnorm_add(&args), ADDNORM_OK);
  }
}

// y = -0 + RN16(t * gamma + beta), with t = 1 (a row of ones) or 0 (a row of zeros).
void LoadAsVector(const uint16_t* gamma, const uint16_t* beta, uint16_t x, int64_t cols, addnorm_dtype dtype,
                  float* y) {
  const std::vector<uint16_t> row(static_cast<size_t>(cols), x);
  const std::vector<float> zero(static_cast<size_t>(cols), -0.0f);
  addnorm_norm_add_args args = ADDNORM_NORM_ADD_ARGS_INIT;
  args.rows = 1;
  args.cols = cols;
  args.x = In(row.data(), cols, dtype);
  args.residual = In(zero.data(), cols, ADDNORM_F32);
  args.y = Out(y, cols, ADDNORM_F32);
  args.epsilon = 0;
  args.gamma = In(gamma, 0, dtype);
  args.beta = In(beta, 0, dtype);
  ASSERT_EQ(addnorm_rms_norm_add(&args), ADDNORM_OK);
}

void LoadAsGamma(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype,
                 std::vector<float>* wide) {
  for (int64_t row = 0; row < block.rows; ++row) {
    LoadAsVector(patterns.data() + row * block.cols, nullptr, Narrow(1.0f, dtype), block.cols, dtype,
                 wide->data() + row * block.cols);
  }
}

void LoadAsBeta(const std::vector<uint16_t>& patterns, const Block& block, addnorm_dtype dtype,
                std::vector<float>* wide) {
  const std::vector<uint16_t> minus_one(patterns.size(), Narrow(-1.0f, dtype));  // 0 * -1 = -0: a beta of -0 stays
  for (int64_t row = 0; row < block.rows; ++row) {
    LoadAsVector(minus_one.data(), patterns.data() + row * block.cols, 0, block.cols, dtype,
                 wide->data() + row * block.cols);
  }
}

template <class Function>
std::string CaseName(const testing::TestParamInfo<std::pair<const char*, Function>>& info) {
  return info.param.first;
}

class LoadTest : public testing::TestWithParam<std::pair<const char*, Load>> {};

TEST_P(LoadTest, AllPatternsAtEveryPositionAndTailAreExact) {
  const Load load = GetParam().second;
  ForEachTargetAndType([&](addnorm_dtype dtype) {
    int64_t checks = 0;
    // In short rows every pattern comes to lie in each kind of tail; in the long one each in whole vectors.
    std::vector<int64_t> lengths = {65536, 1021};
    for (int64_t cols = 1; cols <= 35; ++cols) lengths.push_back(cols);
    for (int64_t cols : lengths) {
      const Block block = {(65536 + cols - 1) / cols, cols};
      std::vector<uint16_t> patterns(static_cast<size_t>(block.rows * cols));
      for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
      std::vector<float> wide(patterns.size());
      load(patterns, block, dtype, &wide);
      if (testing::Test::HasFatalFailure()) return checks;
      int64_t wrong = 0;
      for (size_t i = 0; i < patterns.size(); ++i) {
        const float expected = Widen(patterns[i], dtype);
        const bool right = std::isnan(expected) ? std::isnan(wide[i]) : BitsOf(wide[i]) == BitsOf(expected);
        if (!right && wrong++ < 5) {
          ADD_FAILURE() << std::hex << patterns[i] << " gives " << BitsOf(wide[i]) << ", not " << BitsOf(expected)
                        << std::dec << ", cols " << cols << " at " << i % static_cast<size_t>(cols);
        }
      }
      checks += static_cast<int64_t>(patterns.size());
    }
    return checks;
  });
}

INSTANTIATE_TEST_SUITE_P(Operands, LoadTest,
                         testing::Values(std::make_pair("X", &LoadAsX), std::make_pair("Residual", &LoadAsResidual),
                                         std::make_pair("Bias", &LoadAsBias), std::make_pair("Gamma", &LoadAsGamma),
                                         std::make_pair("Beta", &LoadAsBeta)),
                         CaseName<Load>);

// ---- Store: each gives in `narrow` the f32 `values`, rounded to dtype.

using Store = void (*)(const float* values, int64_t cols, addnorm_dtype dtype, uint16_t* narrow);

// y = RN16(0 * -1 + beta).
void StoreAsY(const float* values, int64_t cols, addnorm_dtype dtype, uint16_t* narrow) {
  const std::vector<float> zero(static_cast<size_t>(cols), 0.0f), minus_one(static_cast<size_t>(cols), -1.0f);
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  args.rows = 1;
  args.cols = cols;
  args.x = In(zero.data(), cols, ADDNORM_F32);
  args.y = Out(narrow, cols, dtype);
  args.epsilon = 1;
  args.gamma = In(minus_one.data(), 0, ADDNORM_F32);
  args.beta = In(values, 0, ADDNORM_F32);
  ASSERT_EQ(addnorm_layer_norm(&args), ADDNORM_OK);
}

// sum_out = RN16(-0 + (-0 + bias)).
void StoreAsSum(const float* values, int64_t cols, addnorm_dtype dtype, uint16_t* narrow) {
  const std::vector<uint16_t> zero(static_cast<size_t>(cols), 0x8000);
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.rows = 1;
  args.cols = cols;
  args.x = In(zero.data(), cols, dtype);
  args.residual = In(zero.data(), cols, dtype);
  args.sum_out = Out(narrow, cols, dtype);
  args.bias = In(values, 0, ADDNORM_F32);
  ASSERT_EQ(addnorm_add(&args), ADDNORM_OK);
}

// y = -0 + n, n = RN16(0 * -1 + beta): the rounding point norm_out_dtype.
void StoreAsNormOut(const float* values, int64_t cols, addnorm_dtype dtype, uint16_t* narrow) {
  const size_t n = static_cast<size_t>(cols);
  const std::vector<float> zero(n, 0.0f), minus_zero(n, -0.0f), minus_one(n, -1.0f);
  std::vector<float> y(n);
  addnorm_norm_add_args args = ADDNORM_NORM_ADD_ARGS_INIT;
  args.rows = 1;
  args.cols = cols;
  args.x = In(zero.data(), cols, ADDNORM_F32);
  args.residual = In(minus_zero.data(), cols, ADDNORM_F32);
  args.y = Out(y.data(), cols, ADDNORM_F32);
  args.epsilon = 1;
  args.gamma = In(minus_one.data(), 0, ADDNORM_F32);
  args.beta = In(values, 0, ADDNORM_F32);
  args.norm_out_dtype = dtype;
  ASSERT_EQ(addnorm_layer_norm_add(&args), ADDNORM_OK);
  for (size_t i = 0; i < n; ++i) {
    narrow[i] = Narrow(y[i], dtype);
    ASSERT_TRUE(std::isnan(y[i]) || BitsOf(Widen(narrow[i], dtype)) == BitsOf(y[i])) << "not rounded: " << y[i];
  }
}

// f32 patterns of both signs: every exponent with every kept fraction of bf16 and the corners of what is cut off from
// it; in f16's range the same with its fractions, and around the ties of its subnormals; random ones.
const std::vector<float>& StorePatterns() {
  static const std::vector<float> patterns = [] {
    std::vector<uint32_t> bits;
    for (uint32_t exponent = 0; exponent < 256; ++exponent) {
      const bool f16 = exponent >= 100 && exponent <= 144;  // 2^-27 ... 2^17, beyond it on both sides
      for (uint32_t kept = 0; kept < 1024; kept += f16 ? 1 : 8) {
        for (uint32_t cut : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu})
          bits.push_back(exponent << 23 | kept << 13 | cut);
      }
      for (uint32_t kept = 0; kept < 128; ++kept) {
        for (uint32_t cut : {0x7fffu, 0x8000u, 0x8001u}) bits.push_back(exponent << 23 | kept << 16 | cut);
      }
    }
    for (uint32_t half_unit = 1; half_unit <= 2048; ++half_unit) {  // 2^-25, up to f16's smallest normal
      const uint32_t at = BitsOf(static_cast<float>(half_unit) * 0x1p-25f);
      bits.insert(bits.end(), {at - 1, at, at + 1});
    }
    Rng rng(1);
    for (int i = 0; i < 1 << 20; ++i) bits.push_back(static_cast<uint32_t>(rng.Next() >> 33));
    std::vector<float> values;
    for (uint32_t b : bits) {
      values.push_back(F32OfBits(b));
      values.push_back(F32OfBits(b | 0x80000000u));
    }
    return values;
  }();
  return patterns;
}

void CheckStored(const float* values, const uint16_t* narrow, int64_t cols, addnorm_dtype dtype, int64_t* wrong) {
  for (int64_t i = 0; i < cols; ++i) {
    const uint16_t expected = Narrow(values[i], dtype);
    const bool right = std::isnan(values[i]) ? IsNaN16(narrow[i], dtype) : narrow[i] == expected;
    if (!right && (*wrong)++ < 5) {
      ADD_FAILURE() << std::hex << BitsOf(values[i]) << " gives " << narrow[i] << ", not " << expected << std::dec
                    << ", cols " << cols << " at " << i;
    }
  }
}

class StoreTest : public testing::TestWithParam<std::pair<const char*, Store>> {};

TEST_P(StoreTest, PatternsOfEveryExponentTieAndSpecialValueRoundToNearestEven) {
  ForEachTargetAndType([&](addnorm_dtype dtype) {
    const std::vector<float>& values = StorePatterns();
    const int64_t total = static_cast<int64_t>(values.size());
    constexpr int64_t kCols = 4099;
    std::vector<uint16_t> narrow(kCols);
    int64_t wrong = 0;
    for (int64_t at = 0; at < total; at += kCols) {
      const int64_t cols = std::min(kCols, total - at);
      GetParam().second(values.data() + at, cols, dtype, narrow.data());
      CheckStored(values.data() + at, narrow.data(), cols, dtype, &wrong);
      if (testing::Test::HasFatalFailure()) break;
    }
    return total;
  });
}

TEST_P(StoreTest, PatternsAtEveryPositionOfEveryTailRoundToNearestEven) {
  // The range ends of both types and their neighbours.
  std::vector<float> values;
  for (uint32_t b :
       {0x00000000u, 0x00000001u, 0x00007fffu, 0x00008000u, 0x00008001u, 0x00018000u, 0x007fffffu, 0x00800000u,
        0x33000000u, 0x33000001u, 0x33800000u, 0x33c00000u, 0x387fc000u, 0x387fe000u, 0x387fffffu, 0x38800000u,
        0x3f800000u, 0x3f801000u, 0x3f803000u, 0x3f808000u, 0x3f818000u, 0x477fe000u, 0x477fefffu, 0x477ff000u,
        0x47800000u, 0x7f7f7fffu, 0x7f7f8000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u}) {
    values.push_back(F32OfBits(b));
    values.push_back(F32OfBits(b | 0x80000000u));
  }
  ForEachTargetAndType([&](addnorm_dtype dtype) {
    int64_t checks = 0, wrong = 0;
    for (int64_t cols = 1; cols <= 35; ++cols) {
      std::vector<uint16_t> narrow(static_cast<size_t>(cols));
      for (size_t first = 0; first < values.size(); ++first) {
        std::vector<float> row;
        for (int64_t i = 0; i < cols; ++i) row.push_back(values[(first + static_cast<size_t>(i)) % values.size()]);
        GetParam().second(row.data(), cols, dtype, narrow.data());
        CheckStored(row.data(), narrow.data(), cols, dtype, &wrong);
        checks += cols;
      }
    }
    return checks;
  });
}

// Values at which other libraries' conversions went wrong: truncation, NaN for finite values, lost signs, infinities
// that became finite.
TEST_P(StoreTest, ValuesReportedAgainstOtherLibraries) {
  struct Case {
    float value;
    uint16_t f16;
    uint16_t bf16;
  };
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Case cases[] = {{1.00073242f, 0x3c01, 0x3f80},  {65504.0f, 0x7bff, 0x4780}, {65519.996f, 0x7bff, 0x4780},
                        {65520.0f, 0x7c00, 0x4780},     {70000.0f, 0x7c00, 0x4789}, {kInf, 0x7c00, 0x7f80},
                        {-kInf, 0xfc00, 0xff80},        {-0.0f, 0x8000, 0x8000},    {5.96e-8f, 0x0001, 0x3380},
                        {3.5e-6f, 0x003b, 0x366b},      {2051.0f, 0x6802, 0x4500},  {0.269140869f, 0x344e, 0x3e8a},
                        {3.4028235e38f, 0x7c00, 0x7f80}};
  ForEachTargetAndType([&](addnorm_dtype dtype) {
    std::vector<float> values;
    for (const Case& c : cases) values.push_back(c.value);
    std::vector<uint16_t> narrow(values.size());
    GetParam().second(values.data(), static_cast<int64_t>(values.size()), dtype, narrow.data());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(narrow[i], dtype == ADDNORM_F16 ? cases[i].f16 : cases[i].bf16) << values[i];
    }
    // NaN whose payload is only in the bits that are cut off, or all ones.
    for (uint32_t b : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0x7fffffffu, 0xffffffffu}) {
      const float nan = F32OfBits(b);
      uint16_t result = 0;
      GetParam().second(&nan, 1, dtype, &result);
      EXPECT_TRUE(IsNaN16(result, dtype)) << std::hex << b;
    }
    return static_cast<int64_t>(values.size());
  });
}

INSTANTIATE_TEST_SUITE_P(Operands, StoreTest,
                         testing::Values(std::make_pair("Y", &StoreAsY), std::make_pair("Sum", &StoreAsSum),
                                         std::make_pair("NormOut", &StoreAsNormOut)),
                         CaseName<Store>);

// norm_dtype: with a mean square far below epsilon = 1 the normalized value is x itself.
TEST(NormDtype, SmallNormalizedValuesRoundToNearestEven) {
  std::vector<float> values;
  for (float value : StorePatterns()) {
    if (std::fabs(value) < 0x1p-14f) values.push_back(value);
  }
  ForEachTargetAndType([&](addnorm_dtype dtype) {
    std::vector<float> y(values.size());
    addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
    args.rows = 1;
    args.cols = static_cast<int64_t>(values.size());
    args.x = In(values.data(), args.cols, ADDNORM_F32);
    args.y = Out(y.data(), args.cols, ADDNORM_F32);
    args.epsilon = 1;
    args.norm_dtype = dtype;
    EXPECT_EQ(addnorm_rms_norm(&args), ADDNORM_OK);
    int64_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float expected = RoundF32To(values[i], dtype);
      if (BitsOf(y[i]) != BitsOf(expected) && wrong++ < 5) {
        ADD_FAILURE() << std::hex << BitsOf(values[i]) << " gives " << BitsOf(y[i]) << ", not " << BitsOf(expected);
      }
    }
    return args.cols;
  });
}

}  // namespace
}  // namespace addnorm_test
