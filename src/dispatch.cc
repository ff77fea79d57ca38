// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Collects the kernels of each target that Highway compiles into a list of our own. Highway's process-wide choice is
// not used: it could be changed by other users of Highway, and cannot be capped by ours.
#include <array>

#include "src/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/dispatch.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "src/vector/kernels-inl.h"

// No HWY_BEFORE_NAMESPACE: most targets have tables here and no function, of which Clang may warn.
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

#if ADDNORM_VECTOR_TARGET

// In the order of kOps. The size is deduced, so that a missing entry does not compile.
constexpr std::array kOperations = {&kMean,         &kVariance,   &kMeanVariance, &kMeanSquare,
                                    &kRms,          &kAdd,        &kLayerNorm,    &kRmsNorm,
                                    &kAddLayerNorm, &kAddRmsNorm, &kLayerNormAdd, &kRmsNormAdd};
constexpr KernelTable kTable = {kOperations, &kBackward};

#if HWY_TARGET & HWY_ALL_SVE
HWY_ATTR size_t VectorBytes() { return hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<uint8_t>()); }
constexpr Target kTarget = {"sve", HWY_TARGET, &VectorBytes, &kTable};
#elif HWY_TARGET & HWY_ALL_NEON
constexpr Target kTarget = {"neon", HWY_TARGET, nullptr, &kTable};
#elif HWY_TARGET == HWY_AVX2
constexpr Target kTarget = {"avx2", HWY_TARGET, nullptr, &kTable};
#else
constexpr Target kTarget = {"avx512", HWY_TARGET, nullptr, &kTable};
#endif

#else  // the baseline that Highway always compiles; the reference takes its place
constexpr Target kTarget = {"scalar", kScalarBit, nullptr, &kScalarTable};
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace addnorm

#if HWY_ONCE
namespace addnorm {
namespace {

#define ADDNORM_TARGET(BIT, NAMESPACE) NAMESPACE::kTarget,
constexpr Target kTargets[] = {HWY_VISIT_TARGETS(ADDNORM_TARGET)
#if !((HWY_TARGETS) & (HWY_SCALAR | HWY_EMU128))
                                   Target{"scalar", kScalarBit, nullptr, &kScalarTable}
#endif
};
#undef ADDNORM_TARGET

}  // namespace

const Target* CompiledTargets(size_t* count) {
  *count = sizeof(kTargets) / sizeof(kTargets[0]);
  return kTargets;
}

int64_t SupportedTargetBits() { return hwy::SupportedTargets() | kScalarBit; }

}  // namespace addnorm
#endif  // HWY_ONCE
