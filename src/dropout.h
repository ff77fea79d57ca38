// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Dropout before the add: what an addnorm_dropout is lowered to, and the numbers of its generator.
#ifndef ADDNORM_SRC_DROPOUT_H_
#define ADDNORM_SRC_DROPOUT_H_

#include <cstddef>
#include <cstdint>

#include "addnorm/training.h"
#include "src/overlap.h"

namespace addnorm {

// A checked addnorm_dropout.
struct Dropout {
  uint64_t seed;
  uint64_t first_row;
  uint64_t threshold;   // 0 to 2^32: what a random number has to reach for its element to be kept
  float scale;          // of what is kept
  const uint8_t* mask;  // null where the mask is generated, or nothing kept
  int64_t mask_row_stride;
  uint8_t* mask_out;
  int64_t mask_out_row_stride;
};

// Philox 4x32-10 (Salmon et al. 2011): the factors of a round, what is added to the key after each, and their number.
inline constexpr uint32_t kPhiloxFactors[2] = {0xd2511f53, 0xcd9e8d57};
inline constexpr uint32_t kPhiloxWeyl[2] = {0x9e3779b9, 0xbb67ae85};
inline constexpr int kPhiloxRounds = 10;

// The random number of an element has 32 bits, whose halves are of different counters: the lower one is rarely needed,
// so one counter decides 8 elements. Of 16 counters side by side, those of a block, word 0 has the numbers of 32
// columns, word 1 of the next 32, and so on: a vector has neighbouring columns on any target.
inline constexpr int64_t kCountersAbreast = 16;
inline constexpr int64_t kMaskBlock = 8 * kCountersAbreast;
enum class Half : uint32_t { kUpper = 0, kLower = 1 };

constexpr int64_t MaskBytes(int64_t cols) { return (cols + 7) / 8; }

// Reads the struct as its size says, and checks its numbers.
addnorm_status ReadDropout(const addnorm_dropout& given, Dropout* dropout);

// Checks where the masks lie: their strides, and that they meet none of the other operands of the call, which are not
// empty.
addnorm_status CheckMasks(const Dropout& dropout, int64_t rows, int64_t cols, const internal::Region* operands,
                          size_t count);

}  // namespace addnorm

#endif  // ADDNORM_SRC_DROPOUT_H_
