// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A program with another version of Highway in it than addnorm's (Debian 12 has 1.0.3): both work, and a choice of
// target in one does not concern the other.
#include <cstdio>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace program {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
float Sum(const float* x, size_t count) {
  const hn::ScalableTag<float> d;
  auto sum = hn::Zero(d);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) sum = hn::Add(sum, hn::Load(d, x + i));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}
}  // namespace HWY_NAMESPACE
}  // namespace program
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "print_hash.h"

namespace program {
HWY_EXPORT(Sum);
bool SumIsRight() {
  HWY_ALIGN_MAX float x[512];
  for (float& value : x) value = 1.0f;
  return HWY_DYNAMIC_DISPATCH(Sum)(x, 512) == 512.0f;
}
}  // namespace program

int main() {
  const bool right = program::SumIsRight();
  const bool wide = (hwy::SupportedTargets() & (HWY_AVX2 | HWY_NEON)) != 0;
  hwy::DisableTargets(~int64_t{0});  // but for the baseline; before addnorm asks, which does not ask this Highway
  const bool narrow = (hwy::SupportedTargets() & ~int64_t{HWY_BASELINE_TARGETS}) == 0;
  if (!right || !program::SumIsRight() || !narrow || wide == (std::strcmp(addnorm_target_name(), "scalar") == 0)) {
    std::fprintf(stderr, "Highway %d.%d.%d in a program with addnorm: wrong sum or targets\n", HWY_MAJOR, HWY_MINOR,
                 HWY_PATCH);
    return 1;
  }
  return PrintHash();
}
#endif  // HWY_ONCE
