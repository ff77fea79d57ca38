// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What the scalar references of the forward and the backward operations share: elements by dtype, and the statistics of
// a row in the canonical order. Plain C++, written to be read.
#ifndef ADDNORM_SRC_REFERENCE_H_
#define ADDNORM_SRC_REFERENCE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/call.h"
#include "src/dropout.h"
#include "src/statistics.h"

namespace addnorm {
namespace reference {

inline uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// ---- Conversions: exact up, round to nearest even down.

inline float FromBF16(uint16_t stored) { return FromBits(static_cast<uint32_t>(stored) << 16); }

inline uint16_t ToBF16(float value) {
  const uint32_t bits = Bits(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);  // quiet, and not infinity
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float FromF16(uint16_t stored) {
  const uint32_t sign = static_cast<uint32_t>(stored & 0x8000) << 16;
  const uint32_t exponent = (stored >> 10) & 31;
  const uint32_t mantissa = stored & 1023;
  if (exponent == 31) return FromBits(sign | 0x7f800000 | (mantissa << 13) | (mantissa != 0 ? 0x400000 : 0));
  if (exponent == 0) return FromBits(sign | Bits(static_cast<float>(mantissa) * 0x1p-24f));  // zero or subnormal
  return FromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline uint16_t ToF16(float value) {
  const uint32_t bits = Bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65520 and above
  if (magnitude < 0x38800000) {  // below 2^-14: the result is a multiple of 2^-24, as is a f32 near 1/2
    const float shifted = FromBits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (Bits(shifted) - Bits(0.5f)));
  }
  const uint32_t rebiased = magnitude - (112u << 23);
  return static_cast<uint16_t>(sign | ((rebiased + 0xfff + ((rebiased >> 13) & 1)) >> 13));
}

// Callers have 16-bit types of their own: memcpy reads any.
template <class T>
T Read(const Operand& operand, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(operand.data) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
inline void Write(const Operand& operand, int64_t i, T value) {
  std::memcpy(static_cast<char*>(operand.data) + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

inline float Load(const Operand& operand, int64_t row, int64_t col) {
  const int64_t i = row * operand.row_stride + col;
  switch (operand.dtype) {
    case ADDNORM_F16:
      return FromF16(Read<uint16_t>(operand, i));
    case ADDNORM_BF16:
      return FromBF16(Read<uint16_t>(operand, i));
    default:
      return Read<float>(operand, i);
  }
}

inline void Store(const Operand& operand, int64_t row, int64_t col, float value) {
  const int64_t i = row * operand.row_stride + col;
  switch (operand.dtype) {
    case ADDNORM_F16:
      return Write(operand, i, ToF16(value));
    case ADDNORM_BF16:
      return Write(operand, i, ToBF16(value));
    default:
      return Write(operand, i, value);
  }
}

inline float RoundTo(addnorm_dtype dtype, float value) {
  switch (dtype) {
    case ADDNORM_F16:
      return FromF16(ToF16(value));
    case ADDNORM_BF16:
      return FromBF16(ToBF16(value));
    default:
      return value;
  }
}

// ---- Dropout

// Of an element, in reference_dropout.cc.
bool IsKept(const Call& c, int64_t row, int64_t col);

// Writes the mask of a row, where asked for.
void WriteMask(const Call& c, int64_t row);

// ---- What is normalized: the rounded sum, or x where there is no residual.

inline float Sum(const Call& c, int64_t row, int64_t col) {
  float value = Load(c.x, row, col);
  if (c.bias.data != nullptr) value += Load(c.bias, 0, col);
  if (c.dropout != nullptr) value = IsKept(c, row, col) ? value * c.dropout->scale : -0.0f;
  return RoundTo(c.sum_dtype, std::fma(c.residual_scale, Load(c.residual, row, col), value));
}

template <Family kFamily>
inline float Input(const Call& c, int64_t row, int64_t col) {
  if constexpr (kFamily == Family::kAdd || kFamily == Family::kAddNorm) {
    return Sum(c, row, col);
  } else {
    return Load(c.x, row, col);
  }
}

// ---- Sums over a row: element i goes into lane i mod V, and the lanes are folded.

// The fold tree: i and i + h for h = V/2 ... 1.
inline double Fold(double* lanes) {
  for (size_t half = kLanes / 2; half != 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

struct Sums {
  double values;
  double squares;
};

template <Family kFamily>
Sums SumsAbout(double pivot, const Call& c, int64_t row) {
  double values[kLanes] = {};
  double squares[kLanes] = {};
  for (int64_t col = 0; col < c.cols; ++col) {
    const size_t lane = static_cast<size_t>(col) % kLanes;
    const double d = static_cast<double>(Input<kFamily>(c, row, col)) - pivot;
    values[lane] += d;
    squares[lane] = std::fma(d, d, squares[lane]);
  }
  return {Fold(values), Fold(squares)};
}

template <Family kFamily>
inline double MeanSquare(const Call& c, int64_t row) {
  return SumsAbout<kFamily>(0.0, c, row).squares / static_cast<double>(c.cols);
}

template <Family kFamily>
Moments RowMoments(const Call& c, int64_t row) {
  const Sums plain = SumsAbout<kFamily>(0.0, c, row);
  Moments m = OnePassMoments(plain.values, plain.squares, c.cols);
  if (m.needs_second_pass) {
    const Sums shifted = SumsAbout<kFamily>(static_cast<double>(m.mean_hi), c, row);
    SecondPassMoments(shifted.values, shifted.squares, c.cols, m);
  }
  return m;
}

// RMSNorm's: four squares, V apart, are summed in f32 first.
template <Family kFamily>
inline double FastMeanSquare(const Call& c, int64_t row) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  const auto element = [&](int64_t col) { return col < c.cols ? Input<kFamily>(c, row, col) : 0.0f; };
  double squares[kLanes] = {};
  for (int64_t block = 0; block < c.cols; block += 4 * kStep) {
    for (int64_t lane = 0; lane < kStep; ++lane) {
      const float v0 = element(block + lane), v1 = element(block + lane + kStep);
      const float v2 = element(block + lane + 2 * kStep), v3 = element(block + lane + 3 * kStep);
      const float four = std::fma(v0, v0, v1 * v1) + std::fma(v2, v2, v3 * v3);
      squares[lane] += static_cast<double>(four);
    }
  }
  return Fold(squares) / static_cast<double>(c.cols);
}

template <Family kFamily, Statistic kStatistic>
Scale RowScale(const Call& c, int64_t row) {
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    return LayerNormScale(RowMoments<kFamily>(c, row), c.epsilon, c.cols);
  } else {
    double mean_square = FastMeanSquare<kFamily>(c, row);
    if (NeedsExactSquares(mean_square, c.cols)) mean_square = MeanSquare<kFamily>(c, row);
    return RmsNormScale(mean_square, c.epsilon);
  }
}

}  // namespace reference
}  // namespace addnorm

#endif  // ADDNORM_SRC_REFERENCE_H_
