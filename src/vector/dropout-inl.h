// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Dropout: the mask of a row in pieces, generated or given, and what it leaves of x. One copy for all kernels.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_DROPOUT_INL_H_
#undef ADDNORM_SRC_VECTOR_DROPOUT_INL_H_
#else
#define ADDNORM_SRC_VECTOR_DROPOUT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/dropout.h"
#include "src/vector/elements-inl.h"
#include "src/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

using DU32 = hn::RebindToUnsigned<D32>;
using DU64 = hn::RebindToUnsigned<D64>;
using DU16 = hn::Repartition<uint16_t, D32>;
using VU32 = hn::Vec<DU32>;
using VU64 = hn::Vec<DU64>;
using VU16 = hn::Vec<DU16>;

// The mask of a block of kMaskBlock columns.
struct MaskBits {
  uint64_t low, high;
};

namespace internal {

// One round of Philox 4x32 over counters side by side, each word in the lower half of a lane of 64 bits. What is in the
// upper half does not matter: so a product is its lower word as it is, and its upper one after a shift.
HWY_INLINE void PhiloxRound(VU64 key0, VU64 key1, VU64& c0, VU64& c1, VU64& c2, VU64& c3) {
  const DU32 d;
  const VU64 product0 = hn::MulEven(hn::BitCast(d, c0), hn::Set(d, kPhiloxFactors[0]));
  const VU64 product1 = hn::MulEven(hn::BitCast(d, c2), hn::Set(d, kPhiloxFactors[1]));
  c0 = hn::Xor3(hn::ShiftRight<32>(product1), c1, key0);
  c1 = product1;
  c2 = hn::Xor3(hn::ShiftRight<32>(product0), c3, key1);
  c3 = product0;
}

// The generator of a row: the keys of all rounds, and the largest number that is dropped.
struct RowGenerator {
  RowGenerator(const Dropout& dropout, uint64_t row_number)
      : row(row_number), limit(static_cast<uint32_t>(dropout.threshold - 1)) {
    uint32_t key0 = static_cast<uint32_t>(dropout.seed), key1 = static_cast<uint32_t>(dropout.seed >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      keys[2 * round] = key0;
      keys[2 * round + 1] = key1;
      key0 += kPhiloxWeyl[0];
      key1 += kPhiloxWeyl[1];
    }
  }

  // The halves of numbers that the counters from `counter` on give, one in each lane of `d`, for as many columns of
  // each quarter of a block.
  HWY_INLINE void Halves(size_t counter, Half half, VU16& w0, VU16& w1, VU16& w2, VU16& w3) const {
    const DU64 d;
    const VU64 lanes = hn::Iota(d, 0);
    VU64 even0 = hn::Add(hn::Add(lanes, lanes), hn::Set(d, counter)), odd0 = hn::Add(even0, hn::Set(d, uint64_t{1}));
    VU64 even1 = hn::Set(d, static_cast<uint64_t>(half)), odd1 = even1;
    VU64 even2 = hn::Set(d, row), odd2 = even2;
    VU64 even3 = hn::Set(d, row >> 32), odd3 = even3;
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const VU64 key0 = hn::Set(d, keys[2 * round]), key1 = hn::Set(d, keys[2 * round + 1]);
      PhiloxRound(key0, key1, even0, even1, even2, even3);
      PhiloxRound(key0, key1, odd0, odd1, odd2, odd3);
    }
    w0 = Join(even0, odd0);
    w1 = Join(even1, odd1);
    w2 = Join(even2, odd2);
    w3 = Join(even3, odd3);
  }

  static HWY_INLINE VU16 Join(VU64 even, VU64 odd) {
    const DU32 d;
    return hn::BitCast(DU16(), hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)));
  }

  uint64_t row;
  uint32_t limit;
  uint64_t keys[2 * kPhiloxRounds];
};

// A bit for each lane.
template <class Mask>
HWY_INLINE uint64_t ToBits(DU16 d, Mask mask) {
#if HWY_HAVE_SCALABLE
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
#else
  return hn::BitsFromMask(d, mask);
#endif
}

// Where the upper half of a number is that of the limit, the lower ones decide: one of 2^16 does.
HWY_NOINLINE inline MaskBits BitsOfTies(const RowGenerator& generator, size_t counter) {
  const DU16 d;
  const VU16 limit = hn::Set(d, static_cast<uint16_t>(generator.limit >> 16));
  const VU16 low_limit = hn::Set(d, static_cast<uint16_t>(generator.limit));
  VU16 w0, w1, w2, w3, low0, low1, low2, low3;
  generator.Halves(counter, Half::kUpper, w0, w1, w2, w3);
  generator.Halves(counter, Half::kLower, low0, low1, low2, low3);
  const auto bits = [&](VU16 upper, VU16 lower)
                        HWY_ATTR { return ToBits(d, hn::And(hn::Eq(upper, limit), hn::Gt(lower, low_limit))); };
  return {bits(w0, low0) | bits(w1, low1) << 32, bits(w2, low2) | bits(w3, low3) << 32};
}

// The mask of the block of columns from `col` on.
HWY_INLINE MaskBits GeneratedBits(const RowGenerator& generator, size_t col) {
  const DU16 d;
  const size_t n = hn::Lanes(DU32());
  const VU16 limit = hn::Set(d, static_cast<uint16_t>(generator.limit >> 16));
  MaskBits block = {0, 0};
  for (size_t i = 0; i < static_cast<size_t>(kCountersAbreast); i += n) {
    const size_t counter = col / 8 + i;
    VU16 w0, w1, w2, w3;
    generator.Halves(counter, Half::kUpper, w0, w1, w2, w3);
    const auto bits = [&](VU16 upper) HWY_ATTR { return ToBits(d, hn::Gt(upper, limit)); };
    MaskBits part = {bits(w0) | bits(w1) << 32, bits(w2) | bits(w3) << 32};
    const auto ties =
        hn::Or(hn::Or(hn::Eq(w0, limit), hn::Eq(w1, limit)), hn::Or(hn::Eq(w2, limit), hn::Eq(w3, limit)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, ties))) {
      const MaskBits rest = BitsOfTies(generator, counter);
      part.low |= rest.low;
      part.high |= rest.high;
    }
    block.low |= part.low << (2 * i);
    block.high |= part.high << (2 * i);
  }
  return block;
}

inline uint64_t LoadBits(const uint8_t* from, size_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

}  // namespace internal

// The mask of a piece of a row, a bit for each column.
struct MaskChunk {
  // What is kept of the vector at `col` of the piece.
  HWY_INLINE hn::Mask<D32> Kept(D32 d, size_t col) const {
    const DU32 du;
    const VU32 lanes = hn::Shl(hn::Set(du, 1u), hn::Iota(du, 0));
    return hn::RebindMask(d, hn::TestBit(hn::Set(du, static_cast<uint32_t>(bits[col / 64] >> (col % 64))), lanes));
  }

  uint64_t bits[kChunk / 64];
};

// Of a row of a call, columns `begin` to `begin + count`; written where asked for, too.
inline HWY_NOINLINE void ReadMask(const Call& c, int64_t row, size_t begin, size_t count, MaskChunk* mask) {
  constexpr size_t kBlock = static_cast<size_t>(kMaskBlock);
  static_assert(kChunk % kBlock == 0, "chunks are whole blocks");
  const Dropout& dropout = *c.dropout;
  const int64_t call_row = c.first_row + row;
  const size_t cols = static_cast<size_t>(c.cols);
  if (dropout.mask != nullptr) {
    const uint8_t* from = dropout.mask + call_row * dropout.mask_row_stride;
    for (size_t i = 0; i < count; i += 64) {
      const size_t col = begin + i;
      mask->bits[i / 64] = internal::LoadBits(from + col / 8, std::min<size_t>(8, (cols - col + 7) / 8));
    }
  } else if (dropout.threshold == 0) {
    std::fill_n(mask->bits, (count + 63) / 64, ~uint64_t{0});
  } else {
    const internal::RowGenerator generator(dropout, dropout.first_row + static_cast<uint64_t>(call_row));
    for (size_t i = 0; i < count; i += kBlock) {
      const MaskBits block = internal::GeneratedBits(generator, begin + i);
      mask->bits[i / 64] = block.low;
      mask->bits[i / 64 + 1] = block.high;
    }
  }
  if (dropout.mask_out == nullptr) return;
  uint8_t* to = dropout.mask_out + call_row * dropout.mask_out_row_stride;
  for (size_t i = 0; i < count; i += 64) {
    const size_t left = cols - (begin + i);
    const uint64_t bits = left < 64 ? mask->bits[i / 64] & ((uint64_t{1} << left) - 1) : mask->bits[i / 64];
    std::memcpy(to + (begin + i) / 8, &bits, std::min<size_t>(8, (left + 7) / 8));
  }
}

// Columns of which x is dropped out at once: few enough that memory is not idle for long while their mask is generated.
inline constexpr size_t kDropoutPiece = 2 * static_cast<size_t>(kMaskBlock);

// What is added to the residual, in f32: a piece of x + bias, scaled where it is kept.
inline HWY_NOINLINE void DropOut(const Call& c, int64_t row, size_t begin, size_t count, float* to) {
  MaskChunk mask;
  ReadMask(c, row, begin, count, &mask);
  const ElementRow<Elements::kAny> x(c.x, row), bias(c.bias, 0);
  const float scale = c.dropout->scale;
  ForEachVector<1>(0, count, [&](size_t i, auto extent) HWY_ATTR {
    const D32 d;
    V32 value = x.Load(d, begin + i, extent);
    if (bias.data != nullptr) value = hn::Add(value, bias.Load(d, begin + i, extent));
    value = hn::IfThenElse(mask.Kept(d, i), hn::Mul(value, hn::Set(d, scale)), hn::Set(d, -0.0f));
    Packing<float>::Store(d, value, to + i, extent);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
