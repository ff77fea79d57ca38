// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_layer_norm and addnorm_rms_norm.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/norm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

template <Statistic kStatistic>
struct Norm {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kNorm[kIndex];
    using Rows = PlainRows<kStatistic, Storage<kDtypes.x>, StoreResult<Storage<kDtypes.y>>>;
    NormalizeRows<kStatistic, Storage<VectorDtype(kDtypes)>>(c, Rows{c});
  }
};

}  // namespace

const Kernels kLayerNorm = MakeKernels<Norm<Statistic::kLayerNorm>, Family::kNorm>();
const Kernels kRmsNorm = MakeKernels<Norm<Statistic::kRmsNorm>, Family::kNorm>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
