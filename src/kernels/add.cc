// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_add.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/add.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

struct Add {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kAdd[kIndex];
    using S = Storage<kDtypes.sum>;
    const SumRows<Storage<kDtypes.x>, Storage<kDtypes.residual>, S, Storage<VectorDtype(kDtypes)>> sums{c};
    for (int64_t row = 0; row < c.rows; ++row) {
      sums.Evaluate(row, 0, static_cast<size_t>(c.cols), c.sum_out.Row<S>(row));
    }
  }
};

}  // namespace

const Kernels kAdd = MakeKernels<Add, Family::kAdd>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
