// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_add.
#include <type_traits>

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
    const size_t cols = static_cast<size_t>(c.cols);
    const auto evaluate = [&](auto write) HWY_ATTR {
      for (int64_t row = 0; row < c.rows; ++row) {
        sums.template Evaluate<decltype(write)>(row, 0, cols, c.sum_out.Row<S>(row));
      }
    };
    if constexpr (std::is_same_v<S, float>) {
      if (c.streams) {
        evaluate(Streaming());
        return hwy::FlushStream();
      }
    }
    evaluate(Cached());
  }
};

}  // namespace

const Kernels kAdd = MakeKernels<Add, Family::kAdd>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
