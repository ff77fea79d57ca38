// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The sums over a row in the canonical order of docs/NUMERICS.md: the only reductions of the vector targets.
//
// The V lanes are registers. Scalable vectors cannot sit in arrays or structs: a set of lanes is a parameter pack of
// the vectors' low halves and one of their high halves, with one member for each f32 vector of V lanes. What becomes of
// the lanes at the end of a row, or of a piece of one, is for a FoldedLanes or StoredLanes to say.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_ACCUMULATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_ACCUMULATE_INL_H_
#undef ADDNORM_SRC_VECTOR_ACCUMULATE_INL_H_
#else
#define ADDNORM_SRC_VECTOR_ACCUMULATE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "src/vector/sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// f32 vectors that hold V lanes. Scalable targets know the number at run time only, and it may change between calls.
template <size_t kCount>
using Registers = std::make_index_sequence<kCount>;

// Calls f(Registers<n>()) with the number of this CPU's, as it is now.
template <class Function>
HWY_INLINE void WithRegisters(const Function& f) {
#if HWY_HAVE_SCALABLE
  switch (kLanes / hn::Lanes(D32())) {
    case 1:
      return f(Registers<1>());
    case 2:
      return f(Registers<2>());
    default:
      return f(Registers<4>());
  }
#else
  f(Registers<kLanes / hn::MaxLanes(D32())>());
#endif
}

namespace internal {

template <size_t>
struct RegisterType {
  using Type = V64;
};
template <size_t kRegister>
using Register = typename RegisterType<kRegister>::Type;

// The part of a vector at `col` that lies before `cols`.
HWY_INLINE Partial Remaining(D32 d, size_t col, size_t cols) {
  return {col < cols ? std::min(cols - col, hn::Lanes(d)) : 0};
}

template <class Source>
HWY_INLINE V32 LoadOrZero(D32 d, const Source& source, size_t col, size_t cols) {
  const Partial extent = Remaining(d, col, cols);
  if (extent.count == 0) return hn::Zero(d);
  if (extent.count == hn::Lanes(d)) return source.Load(d, col, Full());
  return source.Load(d, col, extent);
}

HWY_INLINE V32 SumOfFourSquares(V32 v0, V32 v1, V32 v2, V32 v3) {
  return hn::Add(hn::MulAdd(v0, v0, hn::Mul(v1, v1)), hn::MulAdd(v2, v2, hn::Mul(v3, v3)));
}

// Of the blocks of V elements from `col` on.
template <class Source>
HWY_INLINE V32 SquaresOfFourBlocks(D32 d, const Source& source, size_t col) {
  return SumOfFourSquares(source.Load(d, col, Full()), source.Load(d, col + kLanes, Full()),
                          source.Load(d, col + 2 * kLanes, Full()), source.Load(d, col + 3 * kLanes, Full()));
}

// The same where the row ends within them.
template <class Source>
HWY_INLINE V32 SquaresOfLastBlocks(D32 d, const Source& source, size_t col, size_t cols) {
  return SumOfFourSquares(LoadOrZero(d, source, col, cols), LoadOrZero(d, source, col + kLanes, cols),
                          LoadOrZero(d, source, col + 2 * kLanes, cols), LoadOrZero(d, source, col + 3 * kLanes, cols));
}

HWY_INLINE void AddWidened(D64 d, V32 v, V64& low, V64& high) {
  low = hn::Add(low, hn::PromoteLowerTo(d, v));
  high = hn::Add(high, hn::PromoteUpperTo(d, v));
}

// The fold tree: lanes i and i + h for h = V/2 ... 1. Between registers first.
HWY_INLINE V64 AddRegisters(V64 low, V64 high) { return hn::Add(low, high); }
HWY_INLINE V64 AddRegisters(V64 low0, V64 low1, V64 high0, V64 high1) {
  return AddRegisters(hn::Add(low0, low1), hn::Add(high0, high1));
}
HWY_INLINE V64 AddRegisters(V64 low0, V64 low1, V64 low2, V64 low3, V64 high0, V64 high1, V64 high2, V64 high3) {
  return AddRegisters(hn::Add(low0, low2), hn::Add(low1, low3), hn::Add(high0, high2), hn::Add(high1, high3));
}

// Then within the last, of kCount lanes.
template <size_t kCount, class V>
HWY_INLINE double FoldRegister(V v) {
  if constexpr (kCount == 1) {
    return hn::GetLane(v);
  } else {
    const hn::CappedTag<double, kCount / 2> half;
    return FoldRegister<kCount / 2>(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

template <class... V>
HWY_INLINE double FoldRegisters(V... v) {
  return FoldRegister<kLanes / sizeof...(V)>(AddRegisters(v...));
}

}  // namespace internal

// The powers that are summed.
enum class Powers { kValues, kSquares, kBoth, kBothAboutPivot };

// Lanes that start at +0.0, never at the first element, and are folded at the end.
struct FoldedLanes {
  HWY_INLINE V64 Low(size_t) const { return hn::Zero(D64()); }
  HWY_INLINE V64 High(size_t) const { return hn::Zero(D64()); }
  template <class... V>
  HWY_INLINE void Finish(V... v) {
    total = internal::FoldRegisters(v...);
  }
  double Fold() const { return total; }

  double total = 0.0;
};

// Lanes that stay in memory, so that a row may be summed in pieces: of whole steps, but for the last.
struct alignas(64) StoredLanes {
  HWY_INLINE V64 Low(size_t index) const { return hn::Load(D64(), lanes + index * hn::Lanes(D32())); }
  HWY_INLINE V64 High(size_t index) const {
    return hn::Load(D64(), lanes + index * hn::Lanes(D32()) + hn::Lanes(D64()));
  }
  template <class... V>
  HWY_INLINE void Finish(V... v) {
    constexpr size_t kCount = sizeof...(V) / 2;  // low halves, then high halves
    const size_t n = hn::Lanes(D64());
    size_t i = 0;
    ((hn::Store(v, D64(), lanes + (i < kCount ? 2 * i : 2 * (i - kCount) + 1) * n), ++i), ...);
  }
  double Fold() const {
    double total = 0.0;
    WithRegisters([&](auto registers) HWY_ATTR { total = FoldStored(registers); });
    return total;
  }
  template <size_t... kRegister>
  HWY_INLINE double FoldStored(std::index_sequence<kRegister...>) const {
    return internal::FoldRegisters(Low(kRegister)..., High(kRegister)...);
  }

  double lanes[kLanes] = {};
};

// The folded sums of a row.
struct Sums {
  double values;
  double squares;
};

// The same while they are summed.
template <class Lanes>
struct RowSums {
  Lanes values;
  Lanes squares;
};

namespace internal {

template <Powers kPowers, class Source, class Extent>
HWY_INLINE void PowerStep(D64 d, const Source& source, size_t col, Extent extent, double pivot, V64& sum_low,
                          V64& sum_high, V64& square_low, V64& square_high) {
  V64 low, high;
  source.Widen(d, col, extent, low, high);
  if constexpr (kPowers == Powers::kBothAboutPivot) {
    low = hn::Sub(low, hn::Set(d, pivot));
    high = hn::Sub(high, hn::Set(d, pivot));
    if constexpr (std::is_same_v<Extent, Partial>) {  // beyond the row counts as zero after the subtraction
      const size_t half = hn::Lanes(d);
      low = hn::IfThenElseZero(hn::FirstN(d, std::min(extent.count, half)), low);
      high = hn::IfThenElseZero(hn::FirstN(d, extent.count - std::min(extent.count, half)), high);
    }
  }
  if constexpr (kPowers != Powers::kSquares) {
    sum_low = hn::Add(sum_low, low);
    sum_high = hn::Add(sum_high, high);
  }
  if constexpr (kPowers != Powers::kValues) {
    square_low = hn::MulAdd(low, low, square_low);
    square_high = hn::MulAdd(high, high, square_high);
  }
}

template <Powers kPowers, class Source>
HWY_INLINE void LastPowerStep(D64 d, const Source& source, size_t col, size_t cols, double pivot, V64& sum_low,
                              V64& sum_high, V64& square_low, V64& square_high) {
  const Partial extent = Remaining(D32(), col, cols);
  if (extent.count == 0) return;
  PowerStep<kPowers>(d, source, col, extent, pivot, sum_low, sum_high, square_low, square_high);
}

// The loops over the columns of a row. kRegister counts the f32 vectors of V lanes.
template <class Indices>
struct RowLoop;

template <size_t... kRegister>
struct RowLoop<std::index_sequence<kRegister...>> {
  // The copies of what is given stay in registers: the compiler cannot know that its stores do not change it.
  template <class Source, class Lanes, class Beside>
  static HWY_INLINE void FastSquares(const Source& row, size_t cols, RowSums<Lanes>& sums, const Beside& with,
                                     Register<kRegister>... low, Register<kRegister>... high) {
    const D32 d;
    const D64 d64;
    const size_t n = hn::Lanes(d);
    constexpr size_t kStep = kSquaresPerStep * kLanes;
    const Source source = row;
    const Beside beside = with;
    size_t col = 0;
    for (; col + kStep <= cols; col += kStep) {
      (AddWidened(d64, SquaresOfFourBlocks(d, source, col + kRegister * n), low, high), ...);
      beside(col, std::integral_constant<size_t, kStep>());
    }
    if (col < cols) {
      (AddWidened(d64, SquaresOfLastBlocks(d, source, col + kRegister * n, cols), low, high), ...);
      beside(col, cols - col);
    }
    sums.squares.Finish(low..., high...);
  }

  template <Powers kPowers, class Source, class Lanes, class Beside>
  static HWY_INLINE void PowerSums(const Source& row, size_t cols, double pivot, RowSums<Lanes>& sums,
                                   const Beside& with, Register<kRegister>... sum_low, Register<kRegister>... sum_high,
                                   Register<kRegister>... square_low, Register<kRegister>... square_high) {
    const D64 d;
    const size_t n = hn::Lanes(D32());
    const Source source = row;
    const Beside beside = with;
    size_t col = 0;
    for (; col + kLanes <= cols; col += kLanes) {
      (PowerStep<kPowers>(d, source, col + kRegister * n, Full(), pivot, sum_low, sum_high, square_low, square_high),
       ...);
      beside(col, std::integral_constant<size_t, kLanes>());
    }
    if (col < cols) {
      (LastPowerStep<kPowers>(d, source, col + kRegister * n, cols, pivot, sum_low, sum_high, square_low, square_high),
       ...);
      beside(col, cols - col);
    }
    if constexpr (kPowers != Powers::kSquares) sums.values.Finish(sum_low..., sum_high...);
    if constexpr (kPowers != Powers::kValues) sums.squares.Finish(square_low..., square_high...);
  }
};

template <class Source, class Lanes, class Beside, size_t... kRegister>
HWY_INLINE void FastSquares(std::index_sequence<kRegister...> registers, const Source& row, size_t cols,
                            RowSums<Lanes>& sums, const Beside& beside) {
  RowLoop<decltype(registers)>::FastSquares(row, cols, sums, beside, sums.squares.Low(kRegister)...,
                                            sums.squares.High(kRegister)...);
}

template <Powers kPowers, class Source, class Lanes, class Beside, size_t... kRegister>
HWY_INLINE void PowerSums(std::index_sequence<kRegister...> registers, const Source& row, size_t cols, double pivot,
                          RowSums<Lanes>& sums, const Beside& beside) {
  RowLoop<decltype(registers)>::template PowerSums<kPowers>(
      row, cols, pivot, sums, beside, sums.values.Low(kRegister)..., sums.values.High(kRegister)...,
      sums.squares.Low(kRegister)..., sums.squares.High(kRegister)...);
}

}  // namespace internal

// What is done in the loop over a row beside its sums, for each step of (col, count): nothing, in most cases.
struct NothingBeside {
  template <class Count>
  HWY_INLINE void operator()(size_t, Count) const {}
};

// Adds the squares of a row, four at a time summed in f32 (RMSNorm's fast statistic).
template <class Source, class Lanes, class Beside = NothingBeside>
HWY_INLINE void AccumulateFastSquares(const Source& row, size_t cols, RowSums<Lanes>& sums,
                                      const Beside& beside = Beside()) {
  WithRegisters([&](auto registers) HWY_ATTR { internal::FastSquares(registers, row, cols, sums, beside); });
}

// Adds x - pivot and its square in f64, or one of them.
template <Powers kPowers, class Source, class Lanes, class Beside = NothingBeside>
HWY_INLINE void AccumulatePowers(const Source& row, size_t cols, double pivot, RowSums<Lanes>& sums,
                                 const Beside& beside = Beside()) {
  WithRegisters([&](auto registers)
                    HWY_ATTR { internal::PowerSums<kPowers>(registers, row, cols, pivot, sums, beside); });
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
