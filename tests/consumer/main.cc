// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ program of the same effect as main.c.
#include <addnorm/addnorm.hpp>

#include "print_hash.h"

int main() {
  return PrintHashOf([](int rms, const float* x, float* y, int64_t cols) -> int {
    const addnorm::Matrix from(x, kRows, cols);
    const addnorm::Matrix to(y, kRows, cols);
    return static_cast<bool>(rms ? addnorm::RmsNorm(from, to, 1e-5) : addnorm::LayerNorm(from, to, 1e-5));
  });
}
