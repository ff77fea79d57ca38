// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/oracle.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr int kF64Bias = 1023, kF64Fraction = 52;
constexpr double kMinNormalF32 = 0x1p-126;

uint64_t ExponentField(double v) { return (BitsOf(v) >> kF64Fraction) & 0x7ff; }
double PowerOfField(uint64_t field) { return F64OfBits(field << kF64Fraction); }

// 1 / Ulp32(magnitude), without calls.
double InverseUlp32(double magnitude) {
  return PowerOfField(2 * kF64Bias + 23 - ExponentField(std::max(magnitude, kMinNormalF32)));
}

// As Distance(exact, PreimageOf(y, dtype)), for finite y.
double DistanceOf(double y, double exact, addnorm_dtype dtype) {
  const double distance = std::fabs(y - exact);
  if (dtype == ADDNORM_F32) return distance;
  const int digits = dtype == ADDNORM_F16 ? 11 : 8;
  const double min_normal = dtype == ADDNORM_F16 ? 0x1p-14 : kMinNormalF32;
  const double magnitude = std::max(std::fabs(y), min_normal);
  double half = PowerOfField(ExponentField(magnitude) - static_cast<uint64_t>(digits));
  const bool is_power = (BitsOf(magnitude) << (64 - kF64Fraction)) == 0 && magnitude > min_normal;
  if (is_power && std::fabs(exact) < std::fabs(y)) half /= 2;
  return std::max(0.0, distance - half);
}

double PartOfBound(double got, long double exact, double allowed) {
  const double error = static_cast<double>(std::fabs(static_cast<long double>(got) - exact));
  // One rounding to f64 is not of the bound.
  const double beyond = error - std::fabs(static_cast<double>(exact)) * 0x1p-53;
  return beyond <= 0.0 ? 0.0 : allowed > 0.0 ? beyond / allowed : HUGE_VAL;
}

}  // namespace

Measure Measurer::Of(const Row& row, const Result& result) {
  row_.resize(row.cols());
  Measure m;
  for (size_t i = 0; i < row.cols(); ++i) {
    row_[i] = SummedElement(row, i);
    if (!std::isfinite(row_[i])) m.error = -1.0;
  }
  if (m.error < 0.0) return m;
  if (AddsBefore(row.op())) {
    for (size_t i = 0; i < row.cols(); ++i) {
      if (BitsOf(result.sum[i]) != BitsOf(row_[i])) m.error = HUGE_VAL, m.at = i;
    }
    if (m.error != 0.0 || row.op() == ADDNORM_OP_ADD) return m;
  }
  statistics_.Compute(row_);
  return IsReduction(row.op()) ? Reduction(row, result) : Norm(row, result);
}

Measure Measurer::Norm(const Row& row, const Result& result) {
  const bool layer_norm = IsLayerNorm(row.op());
  const long double mean = layer_norm ? statistics_.mean.value() : 0.0L;
  const double mean_high = static_cast<double>(mean), mean_low = static_cast<double>(mean - mean_high);
  const double spread = static_cast<double>((layer_norm ? statistics_.variance : statistics_.mean_square).value());
  const double denominator = spread + row.epsilon;
  const double inverse = denominator == 0.0 ? 0.0 : 1.0 / std::sqrt(denominator);
  const double largest = MaxFinite(row.dtype()) / 2;
  Measure m;
  m.mean = mean_high;
  m.inverse = inverse;
  m.wide = denominator != 0.0 && (!(inverse >= kMinNormalF32 && inverse < 0x1p127) ||
                                  (layer_norm && spread * static_cast<double>(row.cols()) >= 0x1p252));
  const bool adds_after = AddsAfter(row.op()), has_terms = layer_norm || !row.beta.empty();
  for (size_t i = 0; i < row.cols(); ++i) {
    const double g = row.gamma.empty() ? 1.0 : static_cast<double>(row.gamma[i]);
    const double beta = row.beta.empty() ? 0.0 : static_cast<double>(row.beta[i]);
    const double t = ((static_cast<double>(row_[i]) - mean_high) - mean_low) * inverse;
    double exact = std::fma(t, g, beta);
    double magnitude = std::max(std::fabs(exact), kMinNormalF32 * std::fabs(g));
    if (has_terms) magnitude = std::max({magnitude, std::fabs(g * t), std::fabs(g), std::fabs(beta)});
    if (adds_after) {
      const double after = static_cast<double>(row.residual_scale) * static_cast<double>(row.residual[i]);
      exact += after;
      magnitude = std::max({magnitude, std::fabs(after), std::fabs(exact)});
    }
    const double y = static_cast<double>(result.y[i]);
    // What may overflow is left to the oracle's tests.
    const double error = std::isfinite(y)             ? DistanceOf(y, exact, row.dtype()) * InverseUlp32(magnitude)
                         : std::fabs(exact) < largest ? HUGE_VAL
                                                      : 0.0;
    if (error > m.error) m.error = error, m.at = i;
  }
  return m;
}

Measure Measurer::Reduction(const Row& row, const Result& result) const {
  const int64_t cols = static_cast<int64_t>(row.cols());
  const long double square = statistics_.mean_square.value(), variance = statistics_.variance.value();
  const auto relative = [](double got, long double exact, double bound) {
    return PartOfBound(got, exact, bound * static_cast<double>(exact));
  };
  const auto mean = [&] {
    double absolute = 0.0;
    for (const float v : row_) absolute += static_cast<double>(std::fabs(v));
    const double allowed = variance == 0.0L ? 0.0 : MeanBound(cols, absolute / static_cast<double>(cols));
    return PartOfBound(result.mean, statistics_.mean.value(), allowed);
  };
  const auto spread = [&] {
    const double ratio = variance == 0.0L ? 1.0 : static_cast<double>(square / variance);
    return relative(result.variance, variance, VarianceBound(cols, ratio));
  };
  Measure m;
  switch (row.op()) {
    case ADDNORM_OP_MEAN:
      m.error = mean();
      break;
    case ADDNORM_OP_VARIANCE:
      m.error = spread();
      break;
    case ADDNORM_OP_MEAN_VARIANCE:
      m.error = std::max(mean(), spread());
      break;
    case ADDNORM_OP_MEAN_SQUARE:
      m.error = relative(result.mean_square, square, MeanSquareBound(cols));
      break;
    default:
      m.error = relative(result.rms, std::sqrt(square), MeanSquareBound(cols));
      break;
  }
  return m;
}

ExactMeasure MeasureExactly(const Row& row, const Result& result, size_t at) {
  static Oracle oracle;
  OracleRow in;
  in.op = row.op();
  in.cols = static_cast<int64_t>(row.cols());
  in.x = row.x.values().data();
  in.residual = row.residual.empty() ? nullptr : row.residual.values().data();
  in.gamma = row.gamma.empty() ? nullptr : row.gamma.values().data();
  in.beta = row.beta.empty() ? nullptr : row.beta.values().data();
  in.epsilon = row.epsilon;
  in.residual_scale = row.residual_scale;
  in.sum_dtype = row.dtype();
  const OracleResult& right = oracle.Compute(in);
  if (AddsBefore(row.op()) && BitsOf(result.sum[at]) != BitsOf(right.row[at])) return {HUGE_VAL, 0.0};
  if (row.op() == ADDNORM_OP_ADD) return {0.0, 0.0};
  if (IsNorm(row.op())) {
    return {ErrorUlp(static_cast<double>(result.y[at]), row.dtype(), right.y[at]), right.bound};
  }
  const auto part = [](double got, const Exact& exact, double allowed) {
    const double beyond = AbsoluteError(got, exact) - std::fabs(exact.hi) * 0x1p-53;
    return beyond <= 0.0 ? 0.0 : allowed > 0.0 ? beyond / allowed : HUGE_VAL;
  };
  const double mean = part(result.mean, right.mean, right.constant ? 0.0 : MeanBound(in.cols, right.mean_abs));
  const double ratio = right.constant ? 1.0 : right.mean_square.hi / right.variance.hi;
  const double variance = part(result.variance, right.variance, VarianceBound(in.cols, ratio) * right.variance.hi);
  const double bound = MeanSquareBound(in.cols);
  switch (row.op()) {
    case ADDNORM_OP_MEAN:
      return {mean, 1.0};
    case ADDNORM_OP_VARIANCE:
      return {variance, 1.0};
    case ADDNORM_OP_MEAN_VARIANCE:
      return {std::max(mean, variance), 1.0};
    case ADDNORM_OP_MEAN_SQUARE:
      return {part(result.mean_square, right.mean_square, bound * right.mean_square.hi), 1.0};
    default:
      return {part(result.rms, right.rms, bound * right.rms.hi), 1.0};
  }
}

}  // namespace addnorm_test
