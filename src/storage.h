// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The C++ types that stand for stored elements in the vector code.
#ifndef ADDNORM_SRC_STORAGE_H_
#define ADDNORM_SRC_STORAGE_H_

#include <cstdint>

#include "src/lists.h"

namespace addnorm {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

namespace internal {
template <Dtype kDtype>
struct StorageOf {
  using Type = float;  // f32, and kNone, so that a list can be read without asking which operands an operation has
};
template <>
struct StorageOf<Dtype::kF16> {
  using Type = F16;
};
template <>
struct StorageOf<Dtype::kBF16> {
  using Type = BF16;
};
}  // namespace internal

template <Dtype kDtype>
using Storage = typename internal::StorageOf<kDtype>::Type;

}  // namespace addnorm

#endif  // ADDNORM_SRC_STORAGE_H_
