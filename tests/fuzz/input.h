// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A fuzzer's bytes, taken piece by piece; zeros after their end.
#ifndef ADDNORM_TESTS_FUZZ_INPUT_H_
#define ADDNORM_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace addnorm_test {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  template <class T>
  T Take() {
    T value = {};
    const size_t bytes = std::min(sizeof(T), size_);
    if (bytes != 0) std::memcpy(&value, data_, bytes);
    data_ += bytes;
    size_ -= bytes;
    return value;
  }
  // 0 ... n - 1, of one byte.
  size_t Below(size_t n) { return Take<uint8_t>() % n; }
  template <class T, size_t kCount>
  const T& OneOf(const T (&values)[kCount]) {
    return values[Below(kCount)];
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_FUZZ_INPUT_H_
