// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/dtype.h"
#include "support/safetensors.h"
#include "support/ulp.h"

namespace addnorm_test::replay {
namespace {

// P.y was computed in f64 and rounded once to f32: beyond half an ULP it may be off by what f64 arithmetic loses, many
// bits below the ULP of the largest term.
constexpr double kStoredHalfUlp = 0.5;
constexpr double kStoredSlackUlp = 0x1p-20;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

void CheckStoredSum(const Capture& capture, const Position& position) {
  if (!position.has_add) return;
  for (size_t i = 0; i < position.sum.size(); ++i) {
    const float sum = position.residual[i] + position.x[i];
    if (BitsOf(sum) == BitsOf(position.sum[i])) continue;
    throw MalformedFile(capture.path, ElementName(capture, position, i) + ": P.sum is " +
                                          Number(static_cast<double>(position.sum[i])) + ", but residual + x is " +
                                          Number(static_cast<double>(sum)));
  }
}

void CheckStoredY(const Capture& capture, const Position& position, const ExactPosition& exact) {
  for (size_t i = 0; i < position.y.size(); ++i) {
    const Expected& expected = exact.y[i];
    const double y = static_cast<double>(position.y[i]);
    const double error = AbsoluteError(y, expected.value);
    const double own_ulp = Ulp32(std::max(std::fabs(y), std::fabs(expected.value.hi)));
    if (error <= kStoredHalfUlp * own_ulp + kStoredSlackUlp * Ulp32(expected.magnitude)) continue;
    throw MalformedFile(capture.path, ElementName(capture, position, i) + ": P.y is " + Number(y) + ", " +
                                          Number(error / own_ulp) + " ULP from the exact result " +
                                          Number(expected.value.hi));
  }
}

ExactPosition ExactOf(const Capture& capture, const Position& position, Oracle* oracle) {
  OracleRow row;
  row.op = capture.norm == NormKind::kLayer ? ADDNORM_OP_LAYER_NORM : ADDNORM_OP_RMS_NORM;
  row.cols = capture.cols;
  row.gamma = position.gamma.data();
  row.beta = position.beta.empty() ? nullptr : position.beta.data();
  row.epsilon = capture.epsilon;
  ExactPosition exact;
  exact.y.reserve(position.sum.size());
  for (int64_t r = 0; r < capture.rows; ++r) {
    row.x = position.sum.data() + r * capture.cols;
    const OracleResult& result = oracle->Compute(row);
    exact.y.insert(exact.y.end(), result.y.begin(), result.y.end());
    exact.bound.push_back(result.bound);
  }
  return exact;
}

}  // namespace

std::vector<ExactPosition> CheckCapture(const Capture& capture) {
  Oracle oracle;
  std::vector<ExactPosition> exact;
  for (const Position& position : capture.positions) {
    CheckStoredSum(capture, position);
    exact.push_back(ExactOf(capture, position, &oracle));
    CheckStoredY(capture, position, exact.back());
  }
  return exact;
}

void Measure(const Capture& capture, const Position& position, const ExactPosition& exact, const float* y,
             Accuracy* accuracy) {
  for (size_t i = 0; i < exact.y.size(); ++i) {
    const double bound = exact.bound[i / static_cast<size_t>(capture.cols)];
    const double error = ErrorUlp(static_cast<double>(y[i]), ADDNORM_F32, exact.y[i]);
    accuracy->max_ulp = std::max(accuracy->max_ulp, error);
    accuracy->bound = std::max(accuracy->bound, bound);
    if (!(error <= bound) && accuracy->first_failure.empty()) {
      accuracy->first_failure =
          ElementName(capture, position, i) + ": error of " + Number(error) + " ULP, the bound is " + Number(bound);
    }
  }
}

std::string ElementName(const Capture& capture, const Position& position, size_t index) {
  const size_t cols = static_cast<size_t>(capture.cols);
  return "position " + Quoted(position.name) + ", row " + std::to_string(index / cols) + ", column " +
         std::to_string(index % cols);
}

size_t FirstDifference(const float* a, const float* b, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (BitsOf(a[i]) != BitsOf(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i]))) return i;
  }
  return size;
}

}  // namespace addnorm_test::replay
