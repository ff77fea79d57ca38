// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The second half of the row pipeline, in stages that a loop joins: normalize, gamma and beta, add after, store.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_NORMALIZE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_NORMALIZE_INL_H_
#undef ADDNORM_SRC_VECTOR_NORMALIZE_INL_H_
#else
#define ADDNORM_SRC_VECTOR_NORMALIZE_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "src/vector/loops-inl.h"
#include "src/vector/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// ---- Normalize: t = (x - mean) * rstd in f32. The wide path, in f64, is in staged-inl.h.

struct NarrowLayerNorm {
  explicit NarrowLayerNorm(const Scale& s) : mean(s.mean_hi), inverse(s.inverse), correction(s.correction) {}

  HWY_INLINE V32 operator()(D32 d, V32 x) const {
    return hn::MulAdd(hn::Sub(x, hn::Set(d, mean)), hn::Set(d, inverse), hn::Set(d, correction));
  }

  float mean;
  float inverse;
  float correction;
};

struct NarrowRmsNorm {
  explicit NarrowRmsNorm(const Scale& s) : inverse(s.inverse) {}

  HWY_INLINE V32 operator()(D32 d, V32 x) const { return hn::Mul(x, hn::Set(d, inverse)); }

  float inverse;
};

// ---- Affine: y = fma(round(t), gamma + gamma_offset, beta). Each struct is one case of that formula with what is
// absent left out; T is the dtype of gamma and beta, Element that of all that is read. kIsUsual: worth a loop of its
// own with the first pass.

struct NoAffine {
  static constexpr bool kIsBF16 = true;
  static constexpr bool kIsUsual = false;

  explicit NoAffine(const Call&) {}

  template <class Extent>
  HWY_INLINE V32 operator()(D32, V32 t, size_t, Extent) const {
    return t;
  }
};

template <class T>
struct Gamma {
  static constexpr bool kIsBF16 = kAreBF16<T>;
  static constexpr bool kIsUsual = std::is_same_v<T, float>;

  explicit Gamma(const Call& c) : gamma(static_cast<const T*>(c.gamma.data)) {}

  template <class Extent>
  HWY_INLINE V32 operator()(D32 d, V32 t, size_t col, Extent extent) const {
    return hn::Mul(t, Packing<T>::Load(d, gamma + col, extent));
  }

  const T* gamma;
};

template <class T>
struct GammaBeta {
  static constexpr bool kIsBF16 = kAreBF16<T>;
  static constexpr bool kIsUsual = std::is_same_v<T, float>;

  explicit GammaBeta(const Call& c)
      : gamma(static_cast<const T*>(c.gamma.data)), beta(static_cast<const T*>(c.beta.data)) {}

  template <class Extent>
  HWY_INLINE V32 operator()(D32 d, V32 t, size_t col, Extent extent) const {
    return hn::MulAdd(t, Packing<T>::Load(d, gamma + col, extent), Packing<T>::Load(d, beta + col, extent));
  }

  const T* gamma;
  const T* beta;
};

// Gemma's.
template <class T>
struct OffsetGamma {
  static constexpr bool kIsBF16 = kAreBF16<T>;
  static constexpr bool kIsUsual = false;

  explicit OffsetGamma(const Call& c) : gamma(static_cast<const T*>(c.gamma.data)), offset(c.gamma_offset) {}

  template <class Extent>
  HWY_INLINE V32 operator()(D32 d, V32 t, size_t col, Extent extent) const {
    return hn::Mul(t, hn::Add(Packing<T>::Load(d, gamma + col, extent), hn::Set(d, offset)));
  }

  const T* gamma;
  float offset;
};

// All cases, for the stages: what has no loop of its own. T is the 16-bit type that gamma and beta may have.
template <class T>
struct AnyAffine {
  explicit AnyAffine(const Call& c)
      : gamma(c.gamma), beta(c.beta), gamma_offset(c.gamma_offset), norm_dtype(c.norm_dtype) {}

  template <class Extent>
  HWY_INLINE V32 EffectiveGamma(D32 d, size_t col, Extent extent) const {
    const V32 g = gamma.data != nullptr ? gamma.Load(d, col, extent) : hn::Set(d, 1.0f);
    return gamma_offset != 0.0f ? hn::Add(g, hn::Set(d, gamma_offset)) : g;
  }

  template <class Extent>
  HWY_INLINE V32 EffectiveBeta(D32 d, size_t col, Extent extent) const {
    return beta.data != nullptr ? beta.Load(d, col, extent) : hn::Set(d, -0.0f);
  }

  VectorOperand<T> gamma;
  VectorOperand<T> beta;
  float gamma_offset;
  addnorm_dtype norm_dtype;
};

// A type as a value.
template <class T>
struct TypeTag {
  using Type = T;
};

// Calls f with the TypeTag of the affine that suits the call, if it has a loop of its own: those that models have. T as
// for AnyAffine.
template <Statistic kStatistic, class T, class Function>
HWY_INLINE void WithAffine(const Call& c, const Function& f) {
  const bool gamma = c.gamma.data != nullptr, beta = c.beta.data != nullptr, offset = c.gamma_offset != 0.0f;
  const bool f32 = c.gamma.dtype == ADDNORM_F32;
  if (c.norm_dtype != ADDNORM_F32) return;
  if (!gamma && !beta && !offset) return f(TypeTag<NoAffine>());
  if (gamma && !beta && !offset) return f32 ? f(TypeTag<Gamma<float>>()) : f(TypeTag<Gamma<T>>());
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    if (!gamma || !beta || offset || c.gamma.dtype != c.beta.dtype) return;
    f32 ? f(TypeTag<GammaBeta<float>>()) : f(TypeTag<GammaBeta<T>>());
  } else {
    if (!gamma || beta) return;
    f32 ? f(TypeTag<OffsetGamma<float>>()) : f(TypeTag<OffsetGamma<T>>());
  }
}

// ---- Store: y, or what the add after makes of it. Value is what is stored, before it is rounded to y's dtype.

template <class Y, class Write = Cached>
struct StoreResult {
  static constexpr bool kIsBF16 = kAreBF16<Y>;
  using Writes = Write;
  using WithStreaming = StoreResult<Y, Streaming>;

  StoreResult(const Call& c, int64_t row) : y(c.y.Row<Y>(row)) {}

  template <class Extent>
  HWY_INLINE V32 Value(D32, V32 value, size_t, Extent) const {
    return value;
  }

  Y* y;
};

// Rounding to a storage type, or to one that the call names.
template <class T>
struct RoundToStorage {
  explicit RoundToStorage(addnorm_dtype) {}
  HWY_INLINE V32 operator()(D32 d, V32 v) const { return Packing<T>::Round(d, v); }
};

struct RoundToAny {
  explicit RoundToAny(addnorm_dtype to) : dtype(to) {}
  HWY_INLINE V32 operator()(D32 d, V32 v) const { return RoundTo(d, dtype, v); }
  addnorm_dtype dtype;
};

// y = fma(scale, residual, n), n rounded to norm_out_dtype.
template <class Round, class R, class Y, class Write = Cached>
struct AddAndStoreResult {
  static constexpr bool kIsBF16 = kAreBF16<R, Y>;
  using Writes = Write;
  using WithStreaming = AddAndStoreResult<Round, R, Y, Streaming>;

  AddAndStoreResult(const Call& c, int64_t row)
      : residual(c.residual.Row<const R>(row)), y(c.y.Row<Y>(row)), scale(c.residual_scale), round(c.norm_out_dtype) {}

  template <class Extent>
  HWY_INLINE V32 Value(D32 d, V32 value, size_t col, Extent extent) const {
    return hn::MulAdd(hn::Set(d, scale), Packing<R>::Load(d, residual + col, extent), round(d, value));
  }

  const R* residual;
  Y* y;
  float scale;
  Round round;
};

// Stores what one of them makes of normalized values.
template <class Result, class Extent>
HWY_INLINE void StoreTo(const Result& result, V32 value, size_t col, Extent extent) {
  const D32 d;
  Result::Writes::Store(d, result.Value(d, value, col, extent), result.y + col, extent);
}
// The same of two vectors, Even and Odd.
template <class Result>
HWY_INLINE void StorePairTo(const Result& result, V32 even, V32 odd, size_t col) {
  const D32 d;
  using Y = std::remove_pointer_t<decltype(result.y)>;
  Packing<Y>::StorePair(result.Value(d, even, col, Even()), result.Value(d, odd, col, Odd()), result.y + col);
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
