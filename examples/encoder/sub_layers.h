// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What stands between two Add & Norm steps: multi-head self-attention and the feed-forward network. Each keeps what its
// backward pass needs from the last forward pass. Parameters have PyTorch's names and shapes.
#ifndef ADDNORM_EXAMPLES_ENCODER_SUB_LAYERS_H_
#define ADDNORM_EXAMPLES_ENCODER_SUB_LAYERS_H_

#include <vector>

#include "encoder/matrix.h"

namespace encoder {

// y = x * weight^T + bias.
class Linear {
 public:
  Linear(int inputs, int outputs) : weight(outputs, inputs), bias(1, outputs) {}

  Matrix Forward(const Matrix& x);
  // Writes the parameters' gradients and returns that of x.
  Matrix Backward(const Matrix& dy);

  Parameter weight;
  Parameter bias;

 private:
  Matrix x_;
};

// Attention of each token to all tokens of its sequence. Rows are sequences * time.
class SelfAttention {
 public:
  SelfAttention(int width, int heads);

  Matrix Forward(const Matrix& x, int time);
  Matrix Backward(const Matrix& dy);
  Parameters parameters();

 private:
  int heads_;
  int time_ = 0;
  Linear in_proj_;  // queries, keys and values
  Linear out_proj_;
  Matrix qkv_;
  std::vector<Matrix> attention_;  // softmax(q * k^T / sqrt(head width)) of each sequence and head
};

// linear2(GELU(linear1(x))), with the exact GELU: h * Phi(h).
class FeedForward {
 public:
  FeedForward(int width, int hidden) : linear1_(width, hidden), linear2_(hidden, width) {}

  Matrix Forward(const Matrix& x);
  Matrix Backward(const Matrix& dy);
  Parameters parameters();

 private:
  Linear linear1_;
  Linear linear2_;
  Matrix hidden_;
};

// Each row to probabilities, in place.
void SoftmaxRows(Matrix* scores);

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_SUB_LAYERS_H_
