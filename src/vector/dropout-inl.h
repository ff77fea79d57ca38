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
  // What is kept of the vector at `col` of the block.
  HWY_INLINE hn::Mask<D32> Kept(D32 d, size_t col) const {
    const DU32 du;
    const VU32 lanes = hn::Shl(hn::Set(du, 1u), hn::Iota(du, 0));
    return hn::RebindMask(d, hn::TestBit(hn::Set(du, static_cast<uint32_t>(bits[col / 64] >> (col % 64))), lanes));
  }

  uint64_t bits[static_cast<size_t>(kMaskBlock) / 64];
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
  // each quarter of a block. As counters of a row differ in word 0 alone, words 0 and 1 are the same for all of them
  // after the first round, and word 3 after the second.
  HWY_INLINE void Halves(size_t counter, Half half, VU16& w0, VU16& w1, VU16& w2, VU16& w3) const {
    const uint64_t row_product = (row & 0xffffffffu) * kPhiloxFactors[1];
    const uint64_t word0 = row_product >> 32 ^ static_cast<uint64_t>(half) ^ keys[0];
    const uint64_t product = word0 * kPhiloxFactors[0];
    const DU64 d;
    const VU64 lanes = hn::Iota(d, 0);
    const VU64 even = hn::Add(hn::Add(lanes, lanes), hn::Set(d, counter)), odd = hn::Add(even, hn::Set(d, uint64_t{1}));
    const auto two_rounds = [&](VU64 counters, VU64& c0, VU64& c1, VU64& c2, VU64& c3) HWY_ATTR {
      const DU32 d32;
      const VU64 product0 = hn::MulEven(hn::BitCast(d32, counters), hn::Set(d32, kPhiloxFactors[0]));
      const VU64 word2 = hn::Xor(hn::ShiftRight<32>(product0), hn::Set(d, row >> 32 ^ keys[1]));
      const VU64 product1 = hn::MulEven(hn::BitCast(d32, word2), hn::Set(d32, kPhiloxFactors[1]));
      c0 = hn::Xor(hn::ShiftRight<32>(product1), hn::Set(d, row_product ^ keys[2]));
      c1 = product1;
      c2 = hn::Xor(product0, hn::Set(d, product >> 32 ^ keys[3]));
      c3 = hn::Set(d, product);
    };
    VU64 even0, even1, even2, even3, odd0, odd1, odd2, odd3;
    two_rounds(even, even0, even1, even2, even3);
    two_rounds(odd, odd0, odd1, odd2, odd3);
    for (int round = 2; round < kPhiloxRounds; ++round) {
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
  return {{bits(w0, low0) | bits(w1, low1) << 32, bits(w2, low2) | bits(w3, low3) << 32}};
}

// The mask of the block of columns from `col` on.
HWY_NOINLINE inline MaskBits GeneratedBits(const RowGenerator& generator, size_t col) {
  const DU16 d;
  const size_t n = hn::Lanes(DU32());
  const VU16 limit = hn::Set(d, static_cast<uint16_t>(generator.limit >> 16));
  MaskBits block = {};
  for (size_t i = 0; i < static_cast<size_t>(kCountersAbreast); i += n) {
    const size_t counter = col / 8 + i;
    VU16 w0, w1, w2, w3;
    generator.Halves(counter, Half::kUpper, w0, w1, w2, w3);
    const auto bits = [&](VU16 upper) HWY_ATTR { return ToBits(d, hn::Gt(upper, limit)); };
    MaskBits part = {{bits(w0) | bits(w1) << 32, bits(w2) | bits(w3) << 32}};
    const auto ties =
        hn::Or(hn::Or(hn::Eq(w0, limit), hn::Eq(w1, limit)), hn::Or(hn::Eq(w2, limit), hn::Eq(w3, limit)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, ties))) {
      const MaskBits rest = BitsOfTies(generator, counter);
      part.bits[0] |= rest.bits[0];
      part.bits[1] |= rest.bits[1];
    }
    block.bits[0] |= part.bits[0] << (2 * i);
    block.bits[1] |= part.bits[1] << (2 * i);
  }
  return block;
}

}  // namespace internal

// The mask of a row, a block at a time.
class MaskRow {
 public:
  HWY_NOINLINE MaskRow(const Call& c, int64_t row)
      : MaskRow(*c.dropout, c.first_row + row, static_cast<size_t>(c.cols)) {}

  // That of the columns from `col` on; written where asked for, too.
  HWY_INLINE MaskBits Block(size_t col) const {
    MaskBits block = {{~uint64_t{0}, ~uint64_t{0}}};
    if (given_ != nullptr) {
      std::memcpy(block.bits, given_ + col / 8, Bytes(col));
    } else if (generates_) {
      block = internal::GeneratedBits(generator_, col);
    }
    if (HWY_UNLIKELY(written_ != nullptr)) Write(block, col);
    return block;
  }

 private:
  MaskRow(const Dropout& dropout, int64_t row, size_t cols)
      : cols_(cols),
        given_(dropout.mask != nullptr ? dropout.mask + row * dropout.mask_row_stride : nullptr),
        written_(dropout.mask_out != nullptr ? dropout.mask_out + row * dropout.mask_out_row_stride : nullptr),
        generates_(dropout.threshold != 0),
        generator_(dropout, dropout.first_row + static_cast<uint64_t>(row)) {}

  size_t Bytes(size_t col) const { return std::min((cols_ - col + 7) / 8, sizeof(MaskBits)); }

  // Bits beyond the columns are 0.
  HWY_NOINLINE void Write(MaskBits block, size_t col) const {
    for (size_t i = 0; i < 2; ++i) {
      const size_t left = cols_ - std::min(cols_, col + 64 * i);
      if (left < 64) block.bits[i] &= (uint64_t{1} << left) - 1;
    }
    std::memcpy(written_ + col / 8, block.bits, Bytes(col));
  }

  const size_t cols_;
  const uint8_t* const given_;
  uint8_t* const written_;
  const bool generates_;
  const internal::RowGenerator generator_;
};

// The mask of a piece of a row.
struct MaskChunk {
  HWY_INLINE hn::Mask<D32> Kept(D32 d, size_t col) const { return blocks[col / kBlock].Kept(d, col % kBlock); }

  // Of columns `begin` to `begin + count`.
  HWY_NOINLINE void Read(const Call& c, int64_t row, size_t begin, size_t count) {
    const MaskRow mask(c, row);
    for (size_t i = 0; i < count; i += kBlock) blocks[i / kBlock] = mask.Block(begin + i);
  }

  static constexpr size_t kBlock = static_cast<size_t>(kMaskBlock);
  static_assert(kChunk % kBlock == 0, "chunks are whole blocks");
  MaskBits blocks[kChunk / kBlock];
};

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
