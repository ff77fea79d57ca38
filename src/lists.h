// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The lists that everything else reads: operations and the dtype combinations promised for each. Kernels are
// instantiated, calls looked up, and tests and benchmarks enumerated from here.
#ifndef ADDNORM_SRC_LISTS_H_
#define ADDNORM_SRC_LISTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "addnorm/addnorm.h"

namespace addnorm {

enum class Dtype : int32_t {
  kNone = 0,
  kF32 = ADDNORM_F32,
  kF16 = ADDNORM_F16,
  kBF16 = ADDNORM_BF16,
  kF64 = ADDNORM_F64
};

constexpr size_t SizeOf(Dtype dtype) { return dtype == Dtype::kF64 ? 8 : dtype == Dtype::kF32 ? 4 : 2; }

// The dtypes of one call's matrices; kNone where the operation has no such operand.
struct Dtypes {
  Dtype x;
  Dtype residual;
  Dtype sum;
  Dtype y;
};

constexpr bool operator==(const Dtypes& a, const Dtypes& b) {
  return a.x == b.x && a.residual == b.residual && a.sum == b.sum && a.y == b.y;
}

namespace dtypes {
inline constexpr Dtype kNone = Dtype::kNone, kF32 = Dtype::kF32, kF16 = Dtype::kF16, kBF16 = Dtype::kBF16;

inline constexpr std::array<Dtypes, 3> kReduce = {{{kF32, kNone, kNone, kNone},  //
                                                   {kBF16, kNone, kNone, kNone},
                                                   {kF16, kNone, kNone, kNone}}};

inline constexpr std::array<Dtypes, 7> kAdd = {{{kF32, kF32, kF32, kNone},  //
                                                {kBF16, kBF16, kBF16, kNone},
                                                {kF16, kF16, kF16, kNone},
                                                {kBF16, kF32, kF32, kNone},
                                                {kF16, kF32, kF32, kNone},
                                                {kBF16, kBF16, kF32, kNone},
                                                {kF16, kF16, kF32, kNone}}};

inline constexpr std::array<Dtypes, 5> kNorm = {{{kF32, kNone, kNone, kF32},  //
                                                 {kBF16, kNone, kNone, kBF16},
                                                 {kF16, kNone, kNone, kF16},
                                                 {kF32, kNone, kNone, kBF16},
                                                 {kF32, kNone, kNone, kF16}}};

inline constexpr std::array<Dtypes, 7> kAddNorm = {{{kF32, kF32, kF32, kF32},  //
                                                    {kBF16, kBF16, kBF16, kBF16},
                                                    {kF16, kF16, kF16, kF16},
                                                    {kBF16, kF32, kF32, kBF16},
                                                    {kF16, kF32, kF32, kF16},
                                                    {kBF16, kBF16, kF32, kBF16},
                                                    {kF16, kF16, kF32, kF16}}};

inline constexpr std::array<Dtypes, 5> kNormAdd = {{{kF32, kF32, kNone, kF32},  //
                                                    {kBF16, kBF16, kNone, kBF16},
                                                    {kF16, kF16, kNone, kF16},
                                                    {kBF16, kF32, kNone, kF32},
                                                    {kF16, kF32, kNone, kF32}}};
}  // namespace dtypes

// gamma, beta and bias may each be f32 or this: the combination's 16-bit type, if it has one.
constexpr Dtype VectorDtype(const Dtypes& d) {
  for (Dtype dtype : {d.x, d.residual, d.sum, d.y}) {
    if (dtype == Dtype::kF16 || dtype == Dtype::kBF16) return dtype;
  }
  return Dtype::kF32;
}

// Which argument struct, operands and kernels an operation uses.
enum class Family { kReduce, kAdd, kNorm, kAddNorm, kNormAdd };

// What is computed from a row before it is written or scaled.
enum class Statistic { kNone, kMean, kVariance, kMeanVariance, kMeanSquare, kRms, kLayerNorm, kRmsNorm };

struct Op {
  Family family;
  Statistic statistic;
};

// The forward operations; the others are the backward ones, in the same order from ADDNORM_OP_ADD on.
inline constexpr size_t kForwardOps = ADDNORM_OP_ADD_BACKWARD;
inline constexpr size_t kBackwardOps = ADDNORM_OP_COUNT - kForwardOps;

// In the order of the ADDNORM_OP_ constants. A backward operation has the family and statistic of its forward one.
inline constexpr std::array<Op, ADDNORM_OP_COUNT> kOps = {{
    {Family::kReduce, Statistic::kMean},
    {Family::kReduce, Statistic::kVariance},
    {Family::kReduce, Statistic::kMeanVariance},
    {Family::kReduce, Statistic::kMeanSquare},
    {Family::kReduce, Statistic::kRms},
    {Family::kAdd, Statistic::kNone},
    {Family::kNorm, Statistic::kLayerNorm},
    {Family::kNorm, Statistic::kRmsNorm},
    {Family::kAddNorm, Statistic::kLayerNorm},
    {Family::kAddNorm, Statistic::kRmsNorm},
    {Family::kNormAdd, Statistic::kLayerNorm},
    {Family::kNormAdd, Statistic::kRmsNorm},
    {Family::kAdd, Statistic::kNone},
    {Family::kNorm, Statistic::kLayerNorm},
    {Family::kNorm, Statistic::kRmsNorm},
    {Family::kAddNorm, Statistic::kLayerNorm},
    {Family::kAddNorm, Statistic::kRmsNorm},
    {Family::kNormAdd, Statistic::kLayerNorm},
    {Family::kNormAdd, Statistic::kRmsNorm},
}};

// The promised combinations of a family.
template <Family kFamily>
constexpr const auto& PromisedDtypes() {
  if constexpr (kFamily == Family::kReduce) {
    return dtypes::kReduce;
  } else if constexpr (kFamily == Family::kAdd) {
    return dtypes::kAdd;
  } else if constexpr (kFamily == Family::kNorm) {
    return dtypes::kNorm;
  } else if constexpr (kFamily == Family::kAddNorm) {
    return dtypes::kAddNorm;
  } else {
    return dtypes::kNormAdd;
  }
}

}  // namespace addnorm

#endif  // ADDNORM_SRC_LISTS_H_
