// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_layer_norm_add and addnorm_rms_norm_add.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/norm_add.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

template <Statistic kStatistic>
struct NormAdd {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kNormAdd[kIndex];
    using T = Storage<VectorDtype(kDtypes)>;
    using X = Storage<kDtypes.x>;
    using R = Storage<kDtypes.residual>;
    using Y = Storage<kDtypes.y>;
    if (c.norm_out_dtype == static_cast<addnorm_dtype>(kDtypes.x)) {
      NormalizeRows<kStatistic, T>(c, PlainRows<kStatistic, X, AddAndStoreResult<RoundToStorage<X>, R, Y>>{c});
    } else {
      NormalizeRows<kStatistic, T>(c, PlainRows<kStatistic, X, AddAndStoreResult<RoundToAny, R, Y>, false>{c});
    }
  }
};

}  // namespace

const Kernels kLayerNormAdd = MakeKernels<NormAdd<Statistic::kLayerNorm>, Family::kNormAdd>();
const Kernels kRmsNormAdd = MakeKernels<NormAdd<Statistic::kRmsNorm>, Family::kNormAdd>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
