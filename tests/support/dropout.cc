// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/dropout.h"

namespace addnorm_test {
namespace {

constexpr uint8_t kUntouched = 0xa5;
constexpr int64_t kMargin = 64;

}  // namespace

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round != 0) {
      key[0] += 0x9e3779b9u;  // the golden ratio
      key[1] += 0xbb67ae85u;  // sqrt(3) - 1
    }
    const uint64_t first = uint64_t{counter[0]} * 0xd2511f53u;
    const uint64_t second = uint64_t{counter[2]} * 0xcd9e8d57u;
    const auto high = [](uint64_t product) { return static_cast<uint32_t>(product / 0x100000000u); };
    const auto low = [](uint64_t product) { return static_cast<uint32_t>(product % 0x100000000u); };
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1], low(first)};
  }
  return counter;
}

uint32_t DropoutNumber(uint64_t seed, uint64_t row, int64_t col) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  const auto half = [&](uint32_t which) {
    const std::array<uint32_t, 4> counter = {static_cast<uint32_t>(col / 128 * 16 + col % 32 / 2), which,
                                             static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)};
    const uint32_t word = Philox(counter, key)[static_cast<size_t>(col / 32 % 4)];
    return col % 2 == 0 ? word & 0xffffu : word >> 16;
  };
  return half(0) << 16 | half(1);
}

bool DropoutOptions::IsKept(int64_t row, int64_t col) const {
  if (probability == 1.0) return false;
  const uint64_t number = first_row + static_cast<uint64_t>(row);
  if (given()) return DropoutNumber(~seed, number, col) % 3 != 0;
  // As reals: the number is at least probability * 2^32, rounded.
  const double limit = probability * 0x1p32;
  return static_cast<double>(DropoutNumber(seed, number, col)) - limit > -0.5;
}

DropoutMemory::DropoutMemory(const DropoutOptions& options, int64_t rows, int64_t cols, int64_t gap)
    : options_(options), rows_(rows), cols_(cols), stride_(MaskBytes(cols) + gap) {
  args_.probability = options.probability;
  args_.seed = options.seed;
  args_.first_row = options.first_row;
  const auto bytes = static_cast<size_t>(rows * stride_ + 2 * kMargin);
  if (options.given()) {
    mask_.assign(bytes, 0xff);  // unused bits are not looked at, nor is any with probability 1
    for (int64_t row = 0; row < rows && options.probability != 1.0; ++row) {
      for (int64_t col = 0; col < cols; ++col) {
        uint8_t& byte = mask_[static_cast<size_t>(kMargin + row * stride_ + col / 8)];
        if (!options.IsKept(row, col)) byte = static_cast<uint8_t>(byte & ~(1 << (col % 8)));
      }
    }
    first_mask_ = mask_;
    args_.mask = mask_.data() + kMargin;
    args_.mask_row_stride = stride_;
  }
  if (options.written()) {
    mask_out_.assign(bytes, kUntouched);
    args_.mask_out = mask_out_.data() + kMargin;
    args_.mask_out_row_stride = stride_;
  }
}

const unsigned char* DropoutMemory::Kept(int64_t row) {
  kept_.resize(static_cast<size_t>(cols_));
  for (int64_t col = 0; col < cols_; ++col) kept_[static_cast<size_t>(col)] = options_.IsKept(row, col) ? 1 : 0;
  return kept_.data();
}

std::string DropoutMemory::MaskOut(int64_t row) const {
  if (mask_out_.empty()) return "";
  const char* start = reinterpret_cast<const char*>(mask_out_.data()) + kMargin + row * stride_;
  return std::string(start, static_cast<size_t>(MaskBytes(cols_)));
}

void DropoutMemory::Reset() { mask_out_.assign(mask_out_.size(), kUntouched); }

bool DropoutMemory::Untouched() const {
  if (mask_ != first_mask_) return false;
  for (size_t i = 0; i < mask_out_.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) - kMargin;
    const bool used = at >= 0 && at / stride_ < rows_ && at % stride_ < MaskBytes(cols_);
    if (!used && mask_out_[i] != kUntouched) return false;
  }
  return true;
}

}  // namespace addnorm_test
