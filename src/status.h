// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// A status is a kind of fault and what is at fault.
#ifndef ADDNORM_SRC_STATUS_H_
#define ADDNORM_SRC_STATUS_H_

#include <cstdint>

#include "addnorm/addnorm.h"

namespace addnorm {

// What a status can point at: an operand or another argument, by its name in the public structs. In the order of
// kSubjectNames.
enum class Subject : int32_t {
  kNone,
  kArgs,
  kStructSize,
  kRows,
  kCols,
  kX,
  kResidual,
  kGamma,
  kBeta,
  kBias,
  kY,
  kSumOut,
  kMean,
  kRstd,
  kVariance,
  kMeanSquare,
  kRms,
  kEpsilon,
  kGammaOffset,
  kResidualScale,
  kSumDtype,
  kNormDtype,
  kNormOutDtype,
  kReserved,
  kStore,
  kDy,
  kDSum,
  kDx,
  kDResidual,
  kDGamma,
  kDBeta,
  kDBias,
  kWorkspace,
  kAccumulate,
  kSums,
  kBytes,
  kDropout,
  kProbability,
  kMask,
  kMaskOut,
  kCount
};

inline constexpr int32_t kKindBits = 8;

constexpr addnorm_status MakeStatus(addnorm_status kind, Subject subject) {
  return kind | (static_cast<int32_t>(subject) << kKindBits);
}

}  // namespace addnorm

#endif  // ADDNORM_SRC_STATUS_H_
