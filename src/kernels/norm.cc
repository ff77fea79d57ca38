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

template <Statistic kStatistic, size_t kIndex>
void Norm(const Call& c) {
  constexpr Dtypes kDtypes = dtypes::kNorm[kIndex];
  using Rows = PlainRows<kStatistic, Storage<kDtypes.x>, StoreResult<Storage<kDtypes.y>>>;
  NormalizeRows<kStatistic, Storage<VectorDtype(kDtypes)>>(c, Rows{c});
}

template <Statistic kStatistic, size_t... kIndex>
constexpr Kernels NormKernels(std::index_sequence<kIndex...>) {
  return {{&Norm<kStatistic, kIndex>...}};
}

constexpr std::make_index_sequence<dtypes::kNorm.size()> kAll;

}  // namespace

const Kernels kLayerNorm = NormKernels<Statistic::kLayerNorm>(kAll);
const Kernels kRmsNorm = NormKernels<Statistic::kRmsNorm>(kAll);

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
