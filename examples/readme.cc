// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include <addnorm/addnorm.hpp>
#include <cstdio>
#include <vector>

int main() {
  const int64_t rows = 2, cols = 4;
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, residual(8, 1.0f), gamma(4, 0.5f), y(8);
  const addnorm::Matrix stream(residual.data(), rows, cols);
  addnorm::AddNormOptions options;
  options.gamma = addnorm::Vector(gamma.data(), cols);
  options.sum_out = stream;  // the new residual stream, in place
  const addnorm::Status status = addnorm::AddRmsNorm(addnorm::Matrix(x.data(), rows, cols), stream,
                                                     addnorm::Matrix(y.data(), rows, cols), 1e-5, options);
  std::printf("%s: %s, y[0] = %g\n", addnorm::TargetName(), status.text(), static_cast<double>(y[0]));
  return status ? 0 : 1;
}
