// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The mask of dropout in plain C++: defines it (docs/NUMERICS.md).
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/call.h"
#include "src/dropout.h"
#include "src/reference.h"

namespace addnorm {
namespace reference {
namespace {

// Half of the random number of an element, of Philox 4x32-10.
uint32_t PhiloxHalf(uint64_t seed, uint64_t row, int64_t col, Half half) {
  constexpr int64_t kQuarter = kMaskBlock / 4;  // columns of one word
  uint32_t counter[4] = {static_cast<uint32_t>(col / kMaskBlock * kCountersAbreast + col % kQuarter / 2),
                         static_cast<uint32_t>(half), static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = uint64_t{kPhiloxFactors[0]} * counter[0];
    const uint64_t product1 = uint64_t{kPhiloxFactors[1]} * counter[2];
    counter[0] = static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0];
    counter[1] = static_cast<uint32_t>(product1);
    counter[2] = static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1];
    counter[3] = static_cast<uint32_t>(product0);
    for (int i = 0; i < 2; ++i) key[i] += kPhiloxWeyl[i];
  }
  return counter[col / kQuarter % 4] >> (col % 2 * 16) & 0xffff;
}

}  // namespace

bool IsKept(const Call& c, int64_t row, int64_t col) {
  const Dropout& dropout = *c.dropout;
  const int64_t call_row = c.first_row + row;
  if (dropout.mask != nullptr) {
    return (dropout.mask[call_row * dropout.mask_row_stride + col / 8] >> (col % 8) & 1) != 0;
  }
  const uint64_t number_of_row = dropout.first_row + static_cast<uint64_t>(call_row);
  uint64_t number = uint64_t{PhiloxHalf(dropout.seed, number_of_row, col, Half::kUpper)} << 16;
  if (number >> 16 == dropout.threshold >> 16) number |= PhiloxHalf(dropout.seed, number_of_row, col, Half::kLower);
  return number >= dropout.threshold;
}

void WriteMask(const Call& c, int64_t row) {
  if (c.dropout == nullptr || c.dropout->mask_out == nullptr) return;
  uint8_t* bytes = c.dropout->mask_out + (c.first_row + row) * c.dropout->mask_out_row_stride;
  std::memset(bytes, 0, static_cast<size_t>(MaskBytes(c.cols)));
  for (int64_t col = 0; col < c.cols; ++col) {
    bytes[col / 8] = static_cast<uint8_t>(bytes[col / 8] | (IsKept(c, row, col) ? 1 << (col % 8) : 0));
  }
}

}  // namespace reference
}  // namespace addnorm
