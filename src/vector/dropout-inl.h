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

#include "src/compiler.h"
#include "src/dropout.h"
#include "src/vector/elements-inl.h"
#include "src/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

using DU32 = hn::RebindToUnsigned<D32>;
using DU64 = hn::RebindToUnsigned<D64>;
using VU32 = hn::Vec<DU32>;
using VU64 = hn::Vec<DU64>;

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

// The keys of all rounds.
struct PhiloxKeys {
  explicit PhiloxKeys(uint64_t seed) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      words[2 * round] = key0;
      words[2 * round + 1] = key1;
      key0 += kPhiloxWeyl[0];
      key1 += kPhiloxWeyl[1];
    }
  }
  uint64_t words[2 * kPhiloxRounds];
};

// The bits of the numbers of one word that are above `limit`: `even` and `odd` have those of every other column.
HWY_INLINE uint64_t BitsAbove(VU32 limit, VU64 even, VU64 odd) {
  const DU32 d;
  const VU32 numbers = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  return hn::BitsFromMask(d, hn::Gt(numbers, limit));
}

// The mask of the kMaskBlock columns from `col` on.
HWY_INLINE uint64_t GeneratedBits(const PhiloxKeys& keys, uint64_t row, VU32 limit, size_t col) {
  const DU64 d;
  const size_t n = hn::Lanes(DU32());
  const VU64 zero = hn::Zero(d);
  const VU64 row_low = hn::Set(d, row), row_high = hn::Set(d, row >> 32);
  uint64_t bits = 0;
  for (size_t i = 0; i < static_cast<size_t>(kCountersAbreast); i += n) {
    const VU64 lanes = hn::Iota(d, 0);
    VU64 even0 = hn::Add(hn::Add(lanes, lanes), hn::Set(d, col / 4 + i)), even1 = zero, even2 = row_low,
         even3 = row_high;
    VU64 odd0 = hn::Add(even0, hn::Set(d, uint64_t{1})), odd1 = zero, odd2 = row_low, odd3 = row_high;
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const VU64 key0 = hn::Set(d, keys.words[2 * round]), key1 = hn::Set(d, keys.words[2 * round + 1]);
      PhiloxRound(key0, key1, even0, even1, even2, even3);
      PhiloxRound(key0, key1, odd0, odd1, odd2, odd3);
    }
    bits |= BitsAbove(limit, even0, odd0) << i;
    bits |= BitsAbove(limit, even1, odd1) << (i + 16);
    bits |= BitsAbove(limit, even2, odd2) << (i + 32);
    bits |= BitsAbove(limit, even3, odd3) << (i + 48);
  }
  return bits;
}

inline uint64_t LoadBits(const uint8_t* from, size_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

}  // namespace internal

// The mask of a piece of a row, a bit for each column.
struct MaskChunk {
  static_assert(kChunk % static_cast<size_t>(kMaskBlock) == 0, "chunks are whole blocks");
  uint64_t bits[kChunk / static_cast<size_t>(kMaskBlock)];

  // What is kept of the vector at `col` of the piece.
  HWY_INLINE hn::Mask<D32> Kept(D32 d, size_t col) const {
    const DU32 du;
    const auto word = static_cast<uint32_t>(bits[col / static_cast<size_t>(kMaskBlock)] >> (col % kMaskBlock));
    const VU32 lanes = hn::Shl(hn::Set(du, 1u), hn::Iota(du, 0));
    return hn::RebindMask(d, hn::TestBit(hn::Set(du, word), lanes));
  }
};

// Of a row of a call, columns `begin` to `begin + count`; written where asked for, too.
inline HWY_NOINLINE void ReadMask(const Call& c, int64_t row, size_t begin, size_t count, MaskChunk* mask) {
  const Dropout& dropout = *c.dropout;
  const int64_t call_row = c.first_row + row;
  constexpr size_t kBlock = static_cast<size_t>(kMaskBlock);
  const size_t cols = static_cast<size_t>(c.cols);
  if (dropout.mask != nullptr) {
    const uint8_t* from = dropout.mask + call_row * dropout.mask_row_stride;
    for (size_t i = 0; i < count; i += kBlock) {
      const size_t col = begin + i;
      mask->bits[i / kBlock] = internal::LoadBits(from + col / 8, std::min<size_t>(8, (cols - col + 7) / 8));
    }
  } else if (dropout.threshold == 0) {
    std::fill_n(mask->bits, (count + kBlock - 1) / kBlock, ~uint64_t{0});
  } else {
    const internal::PhiloxKeys keys(dropout.seed);
    const VU32 limit = hn::Set(DU32(), static_cast<uint32_t>(dropout.threshold - 1));
    const uint64_t number = dropout.first_row + static_cast<uint64_t>(call_row);
    for (size_t i = 0; i < count; i += kBlock) {
      mask->bits[i / kBlock] = internal::GeneratedBits(keys, number, limit, begin + i);
    }
  }
  if (dropout.mask_out == nullptr) return;
  uint8_t* to = dropout.mask_out + call_row * dropout.mask_out_row_stride;
  for (size_t i = 0; i < count; i += kBlock) {
    const size_t left = cols - (begin + i);
    const uint64_t bits = left < kBlock ? mask->bits[i / kBlock] & ((uint64_t{1} << left) - 1) : mask->bits[i / kBlock];
    std::memcpy(to + (begin + i) / 8, &bits, std::min<size_t>(8, (left + 7) / 8));
  }
}

// What is added to the residual, in f32: a piece of at most kChunk columns of x + bias, scaled where it is kept.
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
