// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The C++ layer: storage types, statuses, views, and that each function is the C function of its name.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "addnorm/addnorm.hpp"
#include "support/dtype.h"

extern "C" int addnorm_c_api_test(void);

namespace addnorm_test {
namespace {

using addnorm::bfloat16;
using addnorm::Column;
using addnorm::float16;
using addnorm::Matrix;
using addnorm::Status;
using addnorm::Vector;

constexpr int64_t kRows = 3, kCols = 20;

// A call before main() finds the library ready.
const addnorm_status status_before_main = [] {
  const float x[2] = {1, 3};
  float mean = 0;
  const Status status = addnorm::Mean(Matrix(x, 1, 2), Column(&mean, 1));
  return mean == 2 ? status.code() : -1;
}();

TEST(CApi, WorksFromC) { EXPECT_EQ(addnorm_c_api_test(), 0) << "line of tests/c_api_test.c"; }

TEST(CppApi, WorksBeforeMain) { EXPECT_EQ(status_before_main, ADDNORM_OK); }

TEST(StorageTypes, EveryPatternIsWidenedExactly) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float half = static_cast<float>(float16::FromBits(bits)),
                brain = static_cast<float>(bfloat16::FromBits(bits));
    EXPECT_EQ(BitsOf(half), BitsOf(F16ToF32(bits))) << i;
    EXPECT_EQ(BitsOf(brain), BitsOf(Bf16ToF32(bits))) << i;
    EXPECT_TRUE(std::isnan(half) ? std::isnan(static_cast<float>(float16(half))) : float16(half).bits == bits) << i;
    EXPECT_TRUE(std::isnan(brain) ? std::isnan(static_cast<float>(bfloat16(brain))) : bfloat16(brain).bits == bits)
        << i;
  }
}

TEST(StorageTypes, FloatsRoundToNearestEven) {
  for (uint32_t upper = 0; upper < 0x8000; ++upper) {
    for (uint32_t lower :
         {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = F32OfBits(upper << 16 | lower), negative = F32OfBits(upper << 16 | lower | 0x80000000u);
      for (float v : {value, negative}) {
        if (std::isnan(v)) {
          EXPECT_TRUE(std::isnan(static_cast<float>(float16(v))) && std::isnan(static_cast<float>(bfloat16(v))));
        } else {
          EXPECT_EQ(float16(v).bits, F32ToF16(v)) << v;
          EXPECT_EQ(bfloat16(v).bits, F32ToBf16(v)) << v;
        }
      }
    }
  }
}

TEST(CppStatus, ComparesByKindWhateverTheOperand) {
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  const Status bad(addnorm_layer_norm(&args));
  EXPECT_FALSE(bad.ok());
  EXPECT_FALSE(bad);
  EXPECT_TRUE(bad == ADDNORM_BAD_NUMBER && ADDNORM_BAD_NUMBER == bad && bad != ADDNORM_OK && ADDNORM_OK != bad);
  EXPECT_EQ(bad.kind(), ADDNORM_BAD_NUMBER);
  EXPECT_EQ(bad.code(), addnorm_layer_norm(&args));
  EXPECT_STREQ(bad.text(), addnorm_status_text(bad.code()));
  EXPECT_TRUE(Status().ok());
}

// Operands of every function, with gaps between rows.
class CppApiTest : public testing::Test {
 protected:
  static constexpr int64_t kStride = kCols + 3;

  CppApiTest() {
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = bfloat16(std::sin(static_cast<float>(i)));
    for (size_t i = 0; i < residual_.size(); ++i) residual_[i] = std::cos(static_cast<float>(i));
    for (size_t i = 0; i < gamma_.size(); ++i) {
      gamma_[i] = 1.0f + 0.01f * static_cast<float>(i);
      beta_[i] = bfloat16(0.1f * static_cast<float>(i));
      bias_[i] = 0.25f;
    }
    options_.gamma = Vector<const float>(gamma_.data(), kCols);
    options_.beta = Vector<const bfloat16>(beta_.data(), kCols);
    options_.gamma_offset = 0.5f;
    options_.norm_dtype = addnorm::DType::kBF16;
    options_.rstd = Column<double>(rstd_.data(), kRows, 2);
  }

  Matrix<const bfloat16> x() const { return {x_.data(), kRows, kCols, kStride}; }
  Matrix<const float> residual() const { return {residual_.data(), kRows, kCols}; }
  template <class T>
  static Matrix<T> View(std::vector<T>& data) {
    data.assign(kRows * kStride, T(77.0f));
    return {data.data(), kRows, kCols, kStride};
  }
  static addnorm_output Out(void* data, int64_t stride, addnorm_dtype dtype) { return {data, stride, dtype, 0}; }

  // The same fields for every struct with a norm.
  template <class Args>
  void SetNorm(Args* args, std::vector<double>* rstd) const {
    args->rows = kRows;
    args->cols = kCols;
    args->x = {x_.data(), kStride, ADDNORM_BF16, 0};
    args->epsilon = 1e-3;
    args->gamma = {gamma_.data(), 0, ADDNORM_F32, 0};
    args->beta = {beta_.data(), 0, ADDNORM_BF16, 0};
    args->gamma_offset = 0.5f;
    args->norm_dtype = ADDNORM_BF16;
    args->rstd = Out(rstd->data(), 2, ADDNORM_F64);
  }

  template <class T>
  static void ExpectSameBits(const std::vector<T>& a, const std::vector<T>& b) {
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
  }

  std::vector<bfloat16> x_{kRows * kStride};
  std::vector<float> residual_ = std::vector<float>(kRows * kCols);
  std::vector<float> gamma_ = std::vector<float>(kCols), bias_ = std::vector<float>(kCols);
  std::vector<bfloat16> beta_ = std::vector<bfloat16>(kCols);
  std::vector<double> rstd_ = std::vector<double>(2 * kRows, 77.0);
  addnorm::NormOptions options_;
};

TEST_F(CppApiTest, ReductionsAreTheCFunctions) {
  using Args = addnorm_reduce_args;
  std::vector<double> a(kRows), b(kRows);
  std::vector<float> c(2 * kRows), d(2 * kRows);
  const Column<double> out(a.data(), kRows);
  const Column<float> strided(c.data(), kRows, 2);
  const auto check = [&](Status status, addnorm_status (*function)(const Args*), addnorm_output Args::* first,
                         addnorm_output Args::* second) {
    EXPECT_TRUE(status.ok()) << status.text();
    Args args = ADDNORM_REDUCE_ARGS_INIT;
    args.rows = kRows;
    args.cols = kCols;
    args.x = {x_.data(), kStride, ADDNORM_BF16, 0};
    args.*first = Out(b.data(), 1, ADDNORM_F64);
    if (second != nullptr) args.*second = Out(d.data(), 2, ADDNORM_F32);
    EXPECT_EQ(function(&args), ADDNORM_OK);
    ExpectSameBits(a, b);
    ExpectSameBits(c, d);
  };
  check(addnorm::Mean(x(), out), addnorm_mean, &Args::mean, nullptr);
  check(addnorm::Variance(x(), out), addnorm_variance, &Args::variance, nullptr);
  check(addnorm::MeanVariance(x(), out, strided), addnorm_mean_variance, &Args::mean, &Args::variance);
  check(addnorm::MeanSquare(x(), out), addnorm_mean_square, &Args::mean_square, nullptr);
  check(addnorm::Rms(x(), out), addnorm_rms, &Args::rms, nullptr);
  EXPECT_EQ(c[1], 0.0f) << "between the values of a strided column";
}

TEST_F(CppApiTest, AddIsTheCFunction) {
  std::vector<float> a, b;
  addnorm::AddOptions options;
  options.bias = Vector(bias_.data(), kCols);
  options.residual_scale = 3;
  const Status status = addnorm::Add(x(), residual(), View(a), options);
  EXPECT_TRUE(status.ok()) << status.text();
  View(b);
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.rows = kRows;
  args.cols = kCols;
  args.x = {x_.data(), kStride, ADDNORM_BF16, 0};
  args.residual = {residual_.data(), kCols, ADDNORM_F32, 0};
  args.sum_out = Out(b.data(), kStride, ADDNORM_F32);
  args.bias = {bias_.data(), 0, ADDNORM_F32, 0};
  args.residual_scale = 3;
  EXPECT_EQ(addnorm_add(&args), ADDNORM_OK);
  ExpectSameBits(a, b);
}

TEST_F(CppApiTest, NormsAreTheCFunctions) {
  const auto check = [&](auto cpp, auto function) {
    std::vector<bfloat16> a, b;
    std::vector<double> rstd(2 * kRows, 77.0);
    const Status status = cpp(x(), View(a), 1e-3, options_);
    EXPECT_TRUE(status.ok()) << status.text();
    View(b);
    addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
    SetNorm(&args, &rstd);
    args.y = Out(b.data(), kStride, ADDNORM_BF16);
    EXPECT_EQ(function(&args), ADDNORM_OK);
    ExpectSameBits(a, b);
    ExpectSameBits(rstd_, rstd);
  };
  check(addnorm::LayerNorm, addnorm_layer_norm);
  check(addnorm::RmsNorm, addnorm_rms_norm);
}

TEST_F(CppApiTest, AddNormsAreTheCFunctions) {
  addnorm::AddNormOptions options;
  static_cast<addnorm::NormOptions&>(options) = options_;
  options.bias = Vector(bias_.data(), kCols);
  options.residual_scale = 0.5f;
  options.sum_dtype = addnorm::DType::kF32;
  const auto check = [&](auto cpp, auto function) {
    std::vector<bfloat16> a, b;
    std::vector<float> sum_a, sum_b;
    std::vector<double> rstd(2 * kRows, 77.0);
    options.sum_out = View(sum_a);
    const Status status = cpp(x(), residual(), View(a), 1e-3, options);
    EXPECT_TRUE(status.ok()) << status.text();
    View(b);
    View(sum_b);
    addnorm_add_norm_args args = ADDNORM_ADD_NORM_ARGS_INIT;
    SetNorm(&args, &rstd);
    args.residual = {residual_.data(), kCols, ADDNORM_F32, 0};
    args.y = Out(b.data(), kStride, ADDNORM_BF16);
    args.sum_out = Out(sum_b.data(), kStride, ADDNORM_F32);
    args.bias = {bias_.data(), 0, ADDNORM_F32, 0};
    args.residual_scale = 0.5f;
    args.sum_dtype = ADDNORM_F32;
    EXPECT_EQ(function(&args), ADDNORM_OK);
    ExpectSameBits(a, b);
    ExpectSameBits(sum_a, sum_b);
    ExpectSameBits(rstd_, rstd);
  };
  check(addnorm::AddLayerNorm, addnorm_add_layer_norm);
  check(addnorm::AddRmsNorm, addnorm_add_rms_norm);
}

TEST_F(CppApiTest, NormAddsAreTheCFunctions) {
  addnorm::NormAddOptions options;
  static_cast<addnorm::NormOptions&>(options) = options_;
  options.residual_scale = 0.5f;
  options.norm_out_dtype = addnorm::DType::kF32;
  const auto check = [&](auto cpp, auto function) {
    std::vector<float> a, b;
    std::vector<double> rstd(2 * kRows, 77.0);
    const Status status = cpp(x(), residual(), View(a), 1e-3, options);
    EXPECT_TRUE(status.ok()) << status.text();
    View(b);
    addnorm_norm_add_args args = ADDNORM_NORM_ADD_ARGS_INIT;
    SetNorm(&args, &rstd);
    args.residual = {residual_.data(), kCols, ADDNORM_F32, 0};
    args.y = Out(b.data(), kStride, ADDNORM_F32);
    args.residual_scale = 0.5f;
    args.norm_out_dtype = ADDNORM_F32;
    EXPECT_EQ(function(&args), ADDNORM_OK);
    ExpectSameBits(a, b);
    ExpectSameBits(rstd_, rstd);
  };
  check(addnorm::LayerNormAdd, addnorm_layer_norm_add);
  check(addnorm::RmsNormAdd, addnorm_rms_norm_add);
}

TEST_F(CppApiTest, MeanIsWrittenByLayerNormAndRefusedByRmsNorm) {
  std::vector<bfloat16> y;
  std::vector<float> mean(kRows);
  options_.mean = Column(mean.data(), kRows);
  EXPECT_TRUE(addnorm::LayerNorm(x(), View(y), 1e-5, options_).ok());
  EXPECT_NE(mean[0], 0.0f);
  EXPECT_TRUE(addnorm::RmsNorm(x(), View(y), 1e-5, options_) == ADDNORM_UNUSED_OPERAND);
}

TEST_F(CppApiTest, RowRangesGiveTheRowsOfTheWhole) {
  std::vector<bfloat16> whole, parts;
  EXPECT_TRUE(addnorm::RmsNorm(x(), View(whole), 1e-5).ok());
  const Matrix<bfloat16> y = View(parts);
  EXPECT_TRUE(addnorm::RmsNorm(x().row_range(0, 1), y.row_range(0, 1), 1e-5).ok());
  EXPECT_TRUE(addnorm::RmsNorm(x().row_range(1, 2), y.row_range(1, 2), 1e-5).ok());
  ExpectSameBits(whole, parts);
  EXPECT_EQ(y.row(2), y.data() + 2 * kStride);
}

TEST_F(CppApiTest, EveryOperandOfAnotherShapeIsRefusedBeforeTheCall) {
  std::vector<bfloat16> y;
  std::vector<float> sum;
  const Matrix<bfloat16> y_view = View(y);
  const std::vector<bfloat16> untouched = y;
  const auto refused = [&](Status status) {
    EXPECT_EQ(status.kind(), ADDNORM_SHAPE_MISMATCH) << status.text();
    ExpectSameBits(y, untouched);
  };
  const auto shape = [](auto view, int64_t rows, int64_t cols) {
    return Matrix(view.data(), rows, cols, view.row_stride());
  };
  for (const auto& [rows, cols] :
       {std::pair{kRows - 1, kCols}, {kRows + 1, kCols}, {kRows, kCols - 1}, {kRows, kCols + 1}}) {
    refused(addnorm::LayerNorm(shape(x(), rows, cols), y_view, 1e-5));
    refused(addnorm::LayerNorm(x(), shape(y_view, rows, cols), 1e-5));
    refused(addnorm::AddRmsNorm(x(), shape(residual(), rows, cols), y_view, 1e-5));
    addnorm::AddNormOptions options;
    options.sum_out = shape(View(sum), rows, cols);
    refused(addnorm::AddRmsNorm(x(), residual(), y_view, 1e-5, options));
  }
  for (int64_t size : {kCols - 1, kCols + 1}) {
    addnorm::AddNormOptions gamma, beta, bias;
    gamma.gamma = Vector(gamma_.data(), size);
    beta.beta = Vector(beta_.data(), size);
    bias.bias = Vector(bias_.data(), size);
    for (const addnorm::AddNormOptions* options : {&gamma, &beta, &bias}) {
      refused(addnorm::AddRmsNorm(x(), residual(), y_view, 1e-5, *options));
    }
  }
  for (int64_t size : {kRows - 1, kRows + 1}) {
    addnorm::NormOptions mean, rstd;
    mean.mean = Column(rstd_.data(), size);
    rstd.rstd = Column(rstd_.data(), size);
    refused(addnorm::LayerNorm(x(), y_view, 1e-5, mean));
    refused(addnorm::LayerNorm(x(), y_view, 1e-5, rstd));
    refused(addnorm::Rms(x(), Column(rstd_.data(), size)));
  }
}

TEST_F(CppApiTest, NullDataIsAnAbsentOperand) {
  std::vector<bfloat16> with, without;
  addnorm::NormOptions options;
  options.gamma = Vector<const float>(nullptr, kCols);
  EXPECT_TRUE(addnorm::RmsNorm(x(), View(with), 1e-5, options).ok());
  EXPECT_TRUE(addnorm::RmsNorm(x(), View(without), 1e-5).ok());
  ExpectSameBits(with, without);
  EXPECT_TRUE(addnorm::RmsNorm(x(), Matrix<bfloat16>(), 1e-5) == ADDNORM_NULL_POINTER);
  EXPECT_TRUE(addnorm::RmsNorm(Matrix<bfloat16>(nullptr, 0, kCols), Matrix<bfloat16>(nullptr, 0, kCols), 1e-5).ok());
}

}  // namespace
}  // namespace addnorm_test
