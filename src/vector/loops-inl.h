// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The loops over the elements of a row that have no order to keep.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_LOOPS_INL_H_
#undef ADDNORM_SRC_VECTOR_LOOPS_INL_H_
#else
#define ADDNORM_SRC_VECTOR_LOOPS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "src/vector/storage-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// Calls f(col, extent) for each vector of columns `begin` to `end`.
template <size_t kUnroll = 4, class Function>
HWY_INLINE void ForEachVector(size_t begin, size_t end, const Function& f) {
  const size_t n = hn::Lanes(D32());
  size_t col = begin;
  if constexpr (kUnroll > 1) {
    for (; col + kUnroll * n <= end; col += kUnroll * n) {
      f(col, Full());
      f(col + n, Full());
      if constexpr (kUnroll == 4) {
        f(col + 2 * n, Full());
        f(col + 3 * n, Full());
      }
    }
  }
  for (; col + n <= end; col += n) f(col, Full());
  if (col < end) f(col, Partial{end - col});
}

// Calls f(col) for each two whole vectors of columns `begin` to `end`, and returns the first of the columns that are
// left.
template <class Function>
HWY_INLINE size_t ForEachPair(size_t begin, size_t end, const Function& f) {
  const size_t n = 2 * hn::Lanes(D32());
  size_t col = begin;
  for (; col + n <= end; col += n) f(col);
  return col;
}

// The same as ForEachVector for `count` columns from `begin` on, which are whole vectors where the count is a constant.
template <class Count, class Function>
HWY_INLINE void ForEachVectorOf(size_t begin, Count count, const Function& f) {
  if constexpr (std::is_same_v<Count, size_t>) {
    ForEachVector<1>(begin, begin + count, f);
  } else {
    for (size_t i = 0; i < Count::value; i += hn::Lanes(D32())) f(begin + i, Full());
  }
}

// Elements of a stage; a multiple of what the accumulators take in one step.
inline constexpr size_t kChunk = 1024;

struct alignas(64) Chunk {
  float values[kChunk];
};

// Calls f(begin, count) for each chunk of the row.
template <class Function>
HWY_INLINE void ForEachChunk(size_t cols, const Function& f) {
  for (size_t begin = 0; begin < cols; begin += kChunk) f(begin, std::min(kChunk, cols - begin));
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
