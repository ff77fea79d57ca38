// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The row pipeline one stage at a time, through a buffer that stays in L1: for rows that need the wide path, and for
// sums that have no place in memory. Each stage is a vector loop that all kernels share.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_STAGED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_STAGED_INL_H_
#undef ADDNORM_SRC_VECTOR_STAGED_INL_H_
#else
#define ADDNORM_SRC_VECTOR_STAGED_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "src/vector/accumulate-inl.h"
#include "src/vector/normalize-inl.h"
#include "src/vector/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

template <class T>
HWY_NOINLINE void Unpack(const T* from, size_t count, float* to) {
  ForEachVector(0, count, [&](size_t col, auto extent) HWY_ATTR {
    Packing<float>::Store(D32(), Packing<T>::Load(D32(), from + col, extent), to + col, extent);
  });
}

// Stages read whole vectors: f32 that fills them is read where it lies.
HWY_INLINE bool FillsVectors(size_t count) { return count % hn::Lanes(D32()) == 0; }

// A chunk of what gamma stands for, in `buffer` or where it lies.
template <class T>
HWY_NOINLINE const float* ReadGamma(const AnyAffine<T>& affine, size_t begin, size_t count, float* buffer) {
  if (affine.gamma.data != nullptr && affine.gamma.is_f32 && affine.gamma_offset == 0.0f && FillsVectors(count)) {
    return static_cast<const float*>(affine.gamma.data) + begin;
  }
  ForEachVector(0, count, [&](size_t i, auto extent) HWY_ATTR {
    Packing<float>::Store(D32(), affine.EffectiveGamma(D32(), begin + i, extent), buffer + i, extent);
  });
  return buffer;
}

// The same of beta.
template <class T>
HWY_NOINLINE const float* ReadBeta(const AnyAffine<T>& affine, size_t begin, size_t count, float* buffer) {
  if (affine.beta.data != nullptr && affine.beta.is_f32 && FillsVectors(count)) {
    return static_cast<const float*>(affine.beta.data) + begin;
  }
  if (affine.beta.data == nullptr && begin != 0) return buffer;  // absent, and filled with the first chunk
  ForEachVector(0, count, [&](size_t i, auto extent) HWY_ATTR {
    Packing<float>::Store(D32(), affine.EffectiveBeta(D32(), begin + i, extent), buffer + i, extent);
  });
  return buffer;
}

template <class Sink>
HWY_NOINLINE void StoreChunk(const float* values, size_t begin, size_t count, const Sink& result_row) {
  const Sink sink = result_row;
  ForEachVector(0, count, [&](size_t i, auto extent) HWY_ATTR {
    StoreTo(sink, Packing<float>::Load(D32(), values + i, extent), begin + i, extent);
  });
}

// Normalize and affine in f64. Buffers are whole vectors long, so there is no tail.
inline HWY_NOINLINE void NormalizeChunkWide(const Scale& s, addnorm_dtype norm_dtype, const float* from,
                                            const float* gamma, const float* beta, size_t count, float* to) {
  const D64 d;
  const hn::Rebind<float, D64> half;
  const V64 mean_hi = hn::Set(d, static_cast<double>(s.mean_hi));
  const V64 mean_lo = hn::Set(d, s.mean_lo);
  const V64 inverse = hn::Set(d, s.inverse64);
  const auto widen = [&](const float* at) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(half, at)); };
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    V64 t = hn::Mul(hn::Sub(hn::Sub(widen(from + i), mean_hi), mean_lo), inverse);
    if (norm_dtype != ADDNORM_F32) t = hn::PromoteTo(d, RoundTo(half, norm_dtype, hn::DemoteTo(half, t)));
    const V64 y = hn::MulAdd(t, widen(gamma + i), widen(beta + i));
    hn::Store(hn::DemoteTo(half, y), half, to + i);
  }
}

template <class Normalize>
HWY_NOINLINE void NormalizeChunkNarrow(const Normalize normalize, addnorm_dtype norm_dtype, const float* from,
                                       const float* gamma, const float* beta, size_t count, float* to) {
  const D32 d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V32 t = RoundTo(d, norm_dtype, normalize(d, hn::LoadU(d, from + i)));
    hn::Store(hn::MulAdd(t, hn::LoadU(d, gamma + i), hn::LoadU(d, beta + i)), d, to + i);
  }
}

// ---- What a row's elements are read from after the first pass.

template <class T>
struct StoredInput {
  template <Powers kPowers>
  HWY_NOINLINE Sums SumPowers(size_t cols, double pivot) const {
    RowSums<FoldedLanes> sums;
    AccumulatePowers<kPowers>(row, cols, pivot, sums);
    return {sums.values.Fold(), sums.squares.Fold()};
  }
  // Elements as f32, in `buffer` or where they lie.
  const float* Read(size_t begin, size_t count, float* buffer) const {
    if constexpr (std::is_same_v<T, float>) {
      if (FillsVectors(count)) return row.from + begin;
    }
    Unpack(row.from + begin, count, buffer);
    return buffer;
  }

  StoredRow<T> row;
};

// A sum in f32 that is stored nowhere: added again each time, a chunk at a time.
template <class X, class R, class T>
struct RecomputedInput {
  template <Powers kPowers>
  HWY_NOINLINE Sums SumPowers(size_t cols, double pivot) const {
    return SumPieces(cols, [&](const StoredRow<float>& piece, size_t count, RowSums<StoredLanes>& lanes)
                               HWY_ATTR { AccumulatePowers<kPowers>(piece, count, pivot, lanes); });
  }
  const float* Read(size_t begin, size_t count, float* buffer) const {
    sums.Evaluate(row, begin, count, buffer);
    return buffer;
  }

  // Calls f to accumulate each piece of the row in turn.
  template <class Function>
  HWY_INLINE Sums SumPieces(size_t cols, const Function& f) const {
    Chunk chunk;
    RowSums<StoredLanes> lanes;
    ForEachChunk(cols, [&](size_t begin, size_t count)
                           HWY_ATTR { f(StoredRow<float>{Read(begin, count, chunk.values)}, count, lanes); });
    return {lanes.values.Fold(), lanes.squares.Fold()};
  }

  SumRows<X, R, float, T> sums;
  int64_t row;
};

// Normalizes a row in stages, in f64 if the scale says so.
template <class Normalize, class Input, class T, class Sink>
HWY_NOINLINE void NormalizeRowStaged(const Input& input, size_t cols, const Scale& scale, const AnyAffine<T>& affine,
                                     const Sink& sink) {
  Chunk values, gamma_values, beta_values;
  ForEachChunk(cols, [&](size_t begin, size_t count) HWY_ATTR {
    const float* from = input.Read(begin, count, values.values);
    const float* gamma = ReadGamma(affine, begin, count, gamma_values.values);
    const float* beta = ReadBeta(affine, begin, count, beta_values.values);
    if (scale.wide) {
      NormalizeChunkWide(scale, affine.norm_dtype, from, gamma, beta, count, values.values);
    } else {
      NormalizeChunkNarrow(Normalize(scale), affine.norm_dtype, from, gamma, beta, count, values.values);
    }
    StoreChunk(values.values, begin, count, sink);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
