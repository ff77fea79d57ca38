// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The Add & Norm step of a model that is trained: addnorm's forward and backward calls on Eigen's matrices, with gamma
// and beta, and what the backward call needs of the forward call.
#ifndef ADDNORM_EXAMPLES_ENCODER_ADD_NORM_H_
#define ADDNORM_EXAMPLES_ENCODER_ADD_NORM_H_

#include <addnorm/training.hpp>
#include <cstdint>
#include <vector>

#include "encoder/matrix.h"

namespace encoder {

enum class NormKind { kLayerNorm, kRmsNorm };

// The gradients of the two inputs of an Add & Norm step.
struct StepGradients {
  Matrix x;         // of the sub-layer's output
  Matrix residual;  // of the residual stream
};

class AddNormStep {
 public:
  AddNormStep(NormKind kind, int width, double epsilon);

  // Norm(x).
  Matrix Norm(const Matrix& x);
  // Norm(residual + x), the sum too if asked for.
  Matrix AddNorm(const Matrix& x, const Matrix& residual, Matrix* sum_out = nullptr);
  // residual + Norm(x).
  Matrix NormAdd(const Matrix& x, const Matrix& residual);

  // Each writes the gradients of gamma and beta, and returns those of the inputs of the last forward call. `d_sum` is
  // the gradient that reaches the sum past the norm, if there is any.
  Matrix NormBackward(const Matrix& dy);
  StepGradients AddNormBackward(const Matrix& dy, const Matrix* d_sum = nullptr);
  StepGradients NormAddBackward(const Matrix& dy);
  // Of y = Norm(x) where x, the stream, is also used past the norm, with the gradient d_stream there. It is the
  // backward call of the add that made the stream.
  Matrix NormOfStreamBackward(const Matrix& dy, const Matrix& d_stream);

  Parameters parameters();

 private:
  void SetOptions(addnorm::NormOptions* options);
  using BackwardFunction = decltype(addnorm::LayerNormBackward);
  StepGradients Backward(BackwardFunction* function, const Matrix& dy, const Matrix* d_sum, bool has_residual);

  NormKind kind_;
  double epsilon_;
  Parameter gamma_;
  Parameter beta_;  // LayerNorm only
  // Of the last forward call: what was normalized, and the statistics.
  Matrix normalized_;
  std::vector<double> mean_;
  std::vector<double> rstd_;
  struct alignas(ADDNORM_WORKSPACE_ALIGNMENT) Block {
    unsigned char bytes[ADDNORM_WORKSPACE_ALIGNMENT];
  };
  std::vector<Block> workspace_;
};

// residual + x.
Matrix Add(const Matrix& x, const Matrix& residual);

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_ADD_NORM_H_
