// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What the examples that train compute with: matrices of Eigen in f32, a token in each row, and parameters.
#ifndef ADDNORM_EXAMPLES_ENCODER_MATRIX_H_
#define ADDNORM_EXAMPLES_ENCODER_MATRIX_H_

#include <Eigen/Core>
#include <string>
#include <vector>

namespace encoder {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A weight matrix, or a vector as its one row, with the gradient of the loss that the last backward pass wrote.
struct Parameter {
  Parameter(int rows, int cols) : value(Matrix::Zero(rows, cols)), gradient(Matrix::Zero(rows, cols)) {}

  Matrix value;
  Matrix gradient;
};

struct NamedParameter {
  std::string name;
  Parameter* parameter;
};

using Parameters = std::vector<NamedParameter>;

// Appends `more`, each name after `prefix`.
inline void Append(const std::string& prefix, const Parameters& more, Parameters* parameters) {
  for (const NamedParameter& named : more) parameters->push_back({prefix + named.name, named.parameter});
}

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_MATRIX_H_
