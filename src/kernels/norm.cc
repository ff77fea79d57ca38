// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_layer_norm and addnorm_rms_norm, and of addnorm_layer_norm_add and addnorm_rms_norm_add.
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

// Rows that are normalized as they lie in memory.
template <class X>
struct StoredRows {
  static HWY_INLINE StoredRow<X> Source(const Call& c, int64_t row) { return {c.x.Row<const X>(row)}; }
  static HWY_INLINE StoredInput<X> Input(const Call& c, int64_t row) { return {Source(c, row)}; }
};

template <Statistic kStatistic>
struct Norm {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kNorm[kIndex];
    using T = Storage<VectorDtype(kDtypes)>;
    using Rows = StoredRows<Storage<kDtypes.x>>;
    NormalizeRows<kStatistic>(c, FusedKernel<kStatistic, Rows, StoreResult<Storage<kDtypes.y>>, T>(c));
  }
};

template <Statistic kStatistic>
struct NormAdd {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kNormAdd[kIndex];
    using T = Storage<VectorDtype(kDtypes)>;
    using X = Storage<kDtypes.x>;
    using R = Storage<kDtypes.residual>;
    using Y = Storage<kDtypes.y>;
    if (HWY_LIKELY(c.norm_out_dtype == static_cast<addnorm_dtype>(kDtypes.x))) {
      using Sink = AddAndStoreResult<RoundToStorage<X>, R, Y>;
      return NormalizeRows<kStatistic>(c, FusedKernel<kStatistic, StoredRows<X>, Sink, T>(c));
    }
    RowKernel kernel = StagedKernel<kStatistic, StoredRows<X>, AddAndStoreResult<RoundToAny, R, Y>, T>();
    kernel.first_pass = FirstPass<kStatistic, StoredRows<X>>;
    NormalizeRows<kStatistic>(c, kernel);
  }
};

}  // namespace

const Kernels kLayerNorm = MakeKernels<Norm<Statistic::kLayerNorm>, Family::kNorm>();
const Kernels kRmsNorm = MakeKernels<Norm<Statistic::kRmsNorm>, Family::kNorm>();
const Kernels kLayerNormAdd = MakeKernels<NormAdd<Statistic::kLayerNorm>, Family::kNormAdd>();
const Kernels kRmsNormAdd = MakeKernels<NormAdd<Statistic::kRmsNorm>, Family::kNormAdd>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
