// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What each vector target exports, one array an operation; defined in src/kernels/, collected by src/dispatch.cc.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_KERNELS_INL_H_
#undef ADDNORM_SRC_VECTOR_KERNELS_INL_H_
#else
#define ADDNORM_SRC_VECTOR_KERNELS_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "hwy/highway.h"
#include "src/targets.h"

// Whether the target being compiled has kernels; the others run the scalar reference.
#undef ADDNORM_VECTOR_TARGET
#if HWY_HAVE_FLOAT64 && (HWY_TARGET & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_ALL_NEON | HWY_ALL_SVE))
#define ADDNORM_VECTOR_TARGET 1
#else
#define ADDNORM_VECTOR_TARGET 0
#endif

#if ADDNORM_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

extern const Kernels kMean, kVariance, kMeanVariance, kMeanSquare, kRms, kAdd, kLayerNorm, kRmsNorm, kAddLayerNorm,
    kAddRmsNorm, kLayerNormAdd, kRmsNormAdd;
// All of the backward operations: their kernels see at run time which dtypes they have.
extern const BackwardKernels kBackward;

namespace internal {

template <class Operation, size_t kIndex>
void Run(const Call& c) {
  Operation::template Run<kIndex>(c);
#if HWY_ARCH_X86
  // Compilers do this at the end of a function that they see using wide registers, but GCC 12 not after a call to one,
  // and the caller's SSE code may then run at a fraction of its speed.
  _mm256_zeroupper();
#endif
}

template <class Operation, size_t... kIndex>
constexpr Kernels MakeKernels(std::index_sequence<kIndex...>) {
  return {{&Run<Operation, kIndex>...}};
}

}  // namespace internal

// Operation::Run<index> for each combination of dtypes that the family promises.
template <class Operation, Family kFamily>
constexpr Kernels MakeKernels() {
  return internal::MakeKernels<Operation>(std::make_index_sequence<PromisedDtypes<kFamily>().size()>());
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET

#endif  // per-target include guard
