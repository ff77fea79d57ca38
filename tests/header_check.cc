// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Compiled in each C++ standard that is supported, without exceptions and RTTI: uses everything in addnorm.hpp, and
// states what must not compile.
#include <type_traits>

#include "addnorm/training.hpp"

namespace addnorm_test {

using namespace addnorm;  // the names have to be free of ambiguity

// A type of another library with the layout of binary16.
struct OtherHalf {
  uint16_t bits;
};

namespace {

template <class View, class Argument>
inline constexpr bool kTakes = std::is_convertible_v<View, Argument>;

static_assert(kTakes<Matrix<float>, MatrixIn> && kTakes<Matrix<const float>, MatrixIn>);
static_assert(kTakes<Matrix<bfloat16>, MatrixOut> && !kTakes<Matrix<const bfloat16>, MatrixOut>,
              "outputs are not const");
static_assert(kTakes<Vector<const float16>, VectorIn> && kTakes<Vector<float>, VectorIn>);
static_assert(kTakes<Column<float>, ColumnOut> && kTakes<Column<double>, ColumnOut>);
static_assert(!kTakes<Column<const double>, ColumnOut>, "outputs are not const");
static_assert(kTakes<Column<const double>, ColumnIn> && kTakes<ParameterGradient<double>, ParameterGradientOut>);
static_assert(!kTakes<ParameterGradient<const float>, ParameterGradientOut>, "outputs are not const");
static_assert(!kTakes<Vector<float>, MatrixIn> && !kTakes<Matrix<float>, VectorIn> &&
              !kTakes<Column<float>, MatrixOut>);
static_assert(!kTakes<float*, MatrixIn> && !kTakes<decltype(nullptr), VectorIn>, "a shape belongs to every operand");

// DTypeOf is undefined, and so a view does not compile, for types that are none.
template <class T, class = void>
inline constexpr bool kIsElement = false;
template <class T>
inline constexpr bool kIsElement<T, std::void_t<decltype(DTypeOf<T>::value)>> = true;
static_assert(kIsElement<float> && kIsElement<float16> && kIsElement<bfloat16> && kIsElement<double>);
static_assert(!kIsElement<int> && !kIsElement<uint16_t> && !kIsElement<long double> && !kIsElement<OtherHalf>);

static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<float16, float>,
              "conversions are explicit");
static_assert(!std::is_convertible_v<float, bfloat16> && !std::is_convertible_v<bfloat16, float>);
static_assert(!std::is_convertible_v<Status, bool> && !std::is_convertible_v<Status, int>);
static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(std::is_trivial_v<float16> && std::is_trivial_v<bfloat16>);
static_assert(std::is_standard_layout_v<float16> && std::is_standard_layout_v<bfloat16>);
static_assert(std::is_trivially_copyable_v<Status> && std::is_trivially_copyable_v<Matrix<float>>);

}  // namespace
}  // namespace addnorm_test

template <>
struct addnorm::DTypeOf<addnorm_test::OtherHalf> : std::integral_constant<addnorm::DType, addnorm::DType::kF16> {};

namespace addnorm_test {

// Every function, deducing the element types.
int UseAll(const OtherHalf* x, float* y, double* statistic, int64_t rows, int64_t cols);
int UseAll(const OtherHalf* x_data, float* y_data, double* statistic_data, int64_t rows, int64_t cols) {
  const Matrix x(x_data, rows, cols);
  const Matrix y(y_data, rows, cols, cols);
  const Column statistic(statistic_data, rows);
  NormOptions norm;
  norm.gamma = Vector(x_data, cols);
  norm.beta = Vector(y_data, cols);
  norm.norm_dtype = DType::kF16;
  norm.rstd = statistic;
  AddNormOptions add_norm;
  add_norm.gamma = norm.gamma;
  add_norm.sum_out = y;
  NormAddOptions norm_add;
  norm_add.norm_out_dtype = DType::kF32;
  AddOptions add;
  add.residual_scale = 2;
  uint8_t* const no_bits = nullptr;
  Dropout dropout(0.5, 1);
  dropout.first_row(2).mask(no_bits, 0).mask_out(no_bits, 0);
  add.dropout = add_norm.dropout = dropout.get();
  int failures = 0;
  const auto count = [&failures](Status status) { failures += status ? 0 : 1; };
  count(Mean(x, statistic));
  count(Variance(x, statistic));
  count(MeanVariance(x, statistic, statistic));
  count(MeanSquare(x, statistic));
  count(Rms(x, statistic));
  count(Add(x, y, y, add));
  count(LayerNorm(y, y, 1e-5, norm));
  count(RmsNorm(y.row_range(0, 1), y.row_range(0, 1), 1e-5));
  count(AddLayerNorm(x, y, y, 1e-5, add_norm));
  count(AddRmsNorm(x, y, y, 1e-5));
  count(LayerNormAdd(x, y, y, 1e-5, norm_add));
  count(RmsNormAdd(x, y, y, 1e-5));
  size_t bytes = 0;
  count(BackwardWorkspace(rows, cols, 1, &bytes));
  Gradients gradients;
  gradients.dx = y;
  NormBackwardOptions norm_backward;
  norm_backward.gamma = norm.gamma;
  norm_backward.rstd = statistic;
  AddBackwardOptions add_backward;
  add_backward.residual_scale = 2;
  count(AddBackward(x, gradients, add_backward));
  count(LayerNormBackward(x, x, gradients, 1e-5));
  count(RmsNormBackward(x, x, gradients, 1e-5, norm_backward));
  count(AddLayerNormBackward(x, x, gradients, 1e-5));
  count(AddRmsNormBackward(x, x, gradients, 1e-5));
  count(LayerNormAddBackward(x, x, gradients, 1e-5));
  count(RmsNormAddBackward(x, x, gradients, 1e-5));
  count(SetMaxTarget(nullptr));
  count(EnvironmentStatus());
  const Status status;
  const bool same = status == ADDNORM_OK && ADDNORM_OK == status && !(status != ADDNORM_OK) && !(ADDNORM_OK != status);
  failures += same && status.ok() && status.code() == ADDNORM_OK && status.text() != nullptr ? 0 : 1;
  failures +=
      TargetName() != nullptr && SupportedTargets(nullptr, 0) > 0 && Version() > 0 && NumericsVersion() > 0 ? 0 : 1;
  return failures;
}

}  // namespace addnorm_test
