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

#include "src/vector/accumulate-inl.h"
#include "src/vector/normalize-inl.h"
#include "src/vector/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

template <class T>
HWY_NOINLINE void Unpack(const T* from, size_t count, float* to) {
  ForEachVector(count, [&](size_t col, auto extent) HWY_ATTR {
    Packing<float>::Store(D32(), Packing<T>::Load(D32(), from + col, extent), to + col, extent);
  });
}

template <class T>
HWY_NOINLINE void UnpackAffine(const AnyAffine<T>& affine, size_t begin, size_t count, float* gamma, float* beta) {
  ForEachVector(count, [&](size_t i, auto extent) HWY_ATTR {
    const D32 d;
    Packing<float>::Store(d, affine.EffectiveGamma(d, begin + i, extent), gamma + i, extent);
    Packing<float>::Store(d, affine.EffectiveBeta(d, begin + i, extent), beta + i, extent);
  });
}

template <class Sink>
HWY_NOINLINE void StoreChunk(const float* values, size_t begin, size_t count, const Sink& result_row) {
  const Sink sink = result_row;
  ForEachVector(count, [&](size_t i, auto extent) HWY_ATTR {
    sink(D32(), Packing<float>::Load(D32(), values + i, extent), begin + i, extent);
  });
}

// Normalize and affine in f64, in place. Buffers are whole vectors long, so there is no tail.
inline HWY_NOINLINE void NormalizeChunkWide(const Scale& s, addnorm_dtype norm_dtype, const float* gamma,
                                            const float* beta, size_t count, float* values) {
  const D64 d;
  const hn::Rebind<float, D64> half;
  const V64 mean_hi = hn::Set(d, static_cast<double>(s.mean_hi));
  const V64 mean_lo = hn::Set(d, s.mean_lo);
  const V64 inverse = hn::Set(d, s.inverse64);
  const auto widen = [&](const float* from) HWY_ATTR { return hn::PromoteTo(d, hn::Load(half, from)); };
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    V64 t = hn::Mul(hn::Sub(hn::Sub(widen(values + i), mean_hi), mean_lo), inverse);
    if (norm_dtype != ADDNORM_F32) t = hn::PromoteTo(d, RoundTo(half, norm_dtype, hn::DemoteTo(half, t)));
    const V64 y = hn::MulAdd(t, widen(gamma + i), widen(beta + i));
    hn::Store(hn::DemoteTo(half, y), half, values + i);
  }
}

template <class Normalize>
HWY_NOINLINE void NormalizeChunkNarrow(const Normalize normalize, addnorm_dtype norm_dtype, const float* gamma,
                                       const float* beta, size_t count, float* values) {
  const D32 d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V32 t = RoundTo(d, norm_dtype, normalize(d, hn::Load(d, values + i)));
    hn::Store(hn::MulAdd(t, hn::Load(d, gamma + i), hn::Load(d, beta + i)), d, values + i);
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
  void Read(size_t begin, size_t count, float* to) const { Unpack(row.from + begin, count, to); }

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
  void Read(size_t begin, size_t count, float* to) const { sums.Evaluate(row, begin, count, to); }

  // Calls f to accumulate each piece of the row in turn.
  template <class Function>
  HWY_INLINE Sums SumPieces(size_t cols, const Function& f) const {
    Chunk chunk;
    RowSums<StoredLanes> lanes;
    ForEachChunk(cols, [&](size_t begin, size_t count) HWY_ATTR {
      Read(begin, count, chunk.values);
      f(StoredRow<float>{chunk.values}, count, lanes);
    });
    return {lanes.values.Fold(), lanes.squares.Fold()};
  }

  SumRows<X, R, float, T> sums;
  int64_t row;
};

// Normalizes a row in stages, in f64 if the scale says so.
template <class Normalize, class Input, class T, class Sink>
HWY_NOINLINE void NormalizeRowStaged(const Input& input, size_t cols, const Scale& scale, const AnyAffine<T>& affine,
                                     const Sink& sink) {
  Chunk values, gamma, beta;
  ForEachChunk(cols, [&](size_t begin, size_t count) HWY_ATTR {
    input.Read(begin, count, values.values);
    UnpackAffine(affine, begin, count, gamma.values, beta.values);
    if (scale.wide) {
      NormalizeChunkWide(scale, affine.norm_dtype, gamma.values, beta.values, count, values.values);
    } else {
      NormalizeChunkNarrow(Normalize(scale), affine.norm_dtype, gamma.values, beta.values, count, values.values);
    }
    StoreChunk(values.values, begin, count, sink);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
