// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ program of the same effect as main.c.
#include <addnorm/addnorm.hpp>
#include <cstdio>

int main() {
  const float x[4] = {1, 2, 3, 4};
  float y[4];
  if (!addnorm::LayerNorm(addnorm::Matrix(x, 1, 4), addnorm::Matrix(y, 1, 4), 1e-5)) return 1;
  std::printf("%a %a %a %a\n", y[0], y[1], y[2], y[3]);
  return 0;
}
