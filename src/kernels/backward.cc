// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of the functions of training.h.
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/backward.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

template <size_t... kOp>
constexpr BackwardKernels MakeBackwardKernels(std::index_sequence<kOp...>) {
  return {{&RunBackward<kOps[kForwardOps + kOp].statistic>...}};
}

}  // namespace

const BackwardKernels kBackward = MakeBackwardKernels(std::make_index_sequence<kBackwardOps>());

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
