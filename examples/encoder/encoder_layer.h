// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A layer of a transformer's encoder: self-attention and a feed-forward network, and where Add & Norm is placed around
// them.
#ifndef ADDNORM_EXAMPLES_ENCODER_ENCODER_LAYER_H_
#define ADDNORM_EXAMPLES_ENCODER_ENCODER_LAYER_H_

#include "encoder/add_norm.h"
#include "encoder/matrix.h"
#include "encoder/sub_layers.h"

namespace encoder {

// How a layer joins what a sub-layer f makes of its input x.
enum class Placement {
  kNoResidual,         // f(x)
  kNoNorm,             // x + f(x)
  kPostLn,             // Norm(x + f(x))
  kPreLn,              // x + f(Norm(x))
  kPostNormInResidual  // x + Norm(f(x))
};

struct LayerConfig {
  Placement placement = Placement::kPostLn;
  NormKind norm = NormKind::kLayerNorm;
  int width = 64;
  int heads = 4;
  int hidden = 128;  // of the feed-forward network
  double epsilon = 1e-5;
};

class EncoderLayer {
 public:
  explicit EncoderLayer(const LayerConfig& config);

  // Rows are tokens, `time` of each sequence, one sequence after the other.
  Matrix Forward(const Matrix& x, int time);
  // The gradient of x, given that of the last forward pass's result; also writes those of all parameters.
  Matrix Backward(const Matrix& dy);

  // The stream between the two sub-layers, of the last forward pass.
  const Matrix& after_attention() const { return after_attention_; }
  // As PyTorch's TransformerEncoderLayer names them; without a norm there are no norm1 and norm2.
  Parameters parameters();

 private:
  Placement placement_;
  SelfAttention attention_;
  FeedForward feed_forward_;
  AddNormStep norm1_;
  AddNormStep norm2_;
  Matrix after_attention_;
};

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_ENCODER_LAYER_H_
