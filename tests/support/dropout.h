// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout of a call: its options, its memory, and what its mask has to be, written from training.h and the paper alone.
#ifndef ADDNORM_TESTS_SUPPORT_DROPOUT_H_
#define ADDNORM_TESTS_SUPPORT_DROPOUT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "addnorm/training.h"

namespace addnorm_test {

// Philox 4x32-10: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11, section 3.3.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The random number of an element.
uint32_t DropoutNumber(uint64_t seed, uint64_t row, int64_t col);

// Of a row of a mask.
inline int64_t MaskBytes(int64_t cols) { return cols / 8 + (cols % 8 != 0 ? 1 : 0); }

enum class Masks { kGenerated, kWritten, kGiven, kGivenAndWritten };

struct DropoutOptions {
  double probability = -1.0;  // absent
  uint64_t seed = 0x0123456789abcdefu;
  uint64_t first_row = 0;
  Masks masks = Masks::kGenerated;

  bool present() const { return probability >= 0.0; }
  bool given() const { return masks == Masks::kGiven || masks == Masks::kGivenAndWritten; }
  bool written() const { return masks == Masks::kWritten || masks == Masks::kGivenAndWritten; }
  // With probability 1 nothing is kept, and there is none.
  float Scale() const { return probability < 1.0 ? static_cast<float>(1.0 / (1.0 - probability)) : 0.0f; }
  // Of the row `row` of the call. A mask that is given is that of another seed.
  bool IsKept(int64_t row, int64_t col) const;
};

// The addnorm_dropout of a call, with its masks in memory.
class DropoutMemory {
 public:
  DropoutMemory() = default;
  // With `gap` bytes between the rows of a mask.
  DropoutMemory(const DropoutOptions& options, int64_t rows, int64_t cols, int64_t gap = 0);
  DropoutMemory(const DropoutMemory&) = delete;
  DropoutMemory& operator=(const DropoutMemory&) = delete;

  const DropoutOptions& options() const { return options_; }
  const addnorm_dropout* args() const { return &args_; }
  // A byte for each element of a row, not 0 where it is kept. Valid until the next call.
  const unsigned char* Kept(int64_t row);
  // The bytes of mask_out that belong to a row; empty without.
  std::string MaskOut(int64_t row) const;
  void Reset();
  // Whether nothing but the bytes of mask_out changed since.
  bool Untouched() const;

 private:
  DropoutOptions options_;
  int64_t rows_ = 0, cols_ = 0, stride_ = 0;
  addnorm_dropout args_ = ADDNORM_DROPOUT_INIT;
  std::vector<uint8_t> mask_, first_mask_, mask_out_;
  std::vector<unsigned char> kept_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_DROPOUT_H_
