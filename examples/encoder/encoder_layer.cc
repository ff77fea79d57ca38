// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/encoder_layer.h"

namespace encoder {

EncoderLayer::EncoderLayer(const LayerConfig& config)
    : placement_(config.placement),
      attention_(config.width, config.heads),
      feed_forward_(config.width, config.hidden),
      norm1_(config.norm, config.width, config.epsilon),
      norm2_(config.norm, config.width, config.epsilon) {}

Matrix EncoderLayer::Forward(const Matrix& x, int time) {
  switch (placement_) {
    case Placement::kPostLn:
      after_attention_ = norm1_.AddNorm(attention_.Forward(x, time), x);
      return norm2_.AddNorm(feed_forward_.Forward(after_attention_), after_attention_);
    case Placement::kPreLn: {
      // The add after the attention and the norm before the feed-forward network are one call.
      const Matrix attended = attention_.Forward(norm1_.Norm(x), time);
      const Matrix normalized = norm2_.AddNorm(attended, x, &after_attention_);
      return Add(feed_forward_.Forward(normalized), after_attention_);
    }
    case Placement::kPostNormInResidual:
      after_attention_ = norm1_.NormAdd(attention_.Forward(x, time), x);
      return norm2_.NormAdd(feed_forward_.Forward(after_attention_), after_attention_);
    case Placement::kNoNorm:
      after_attention_ = Add(attention_.Forward(x, time), x);
      return Add(feed_forward_.Forward(after_attention_), after_attention_);
    case Placement::kNoResidual:
      after_attention_ = attention_.Forward(x, time);
      return feed_forward_.Forward(after_attention_);
  }
  return {};
}

Matrix EncoderLayer::Backward(const Matrix& dy) {
  switch (placement_) {
    case Placement::kPostLn: {
      const StepGradients second = norm2_.AddNormBackward(dy);
      const StepGradients first = norm1_.AddNormBackward(Add(feed_forward_.Backward(second.x), second.residual));
      return Add(attention_.Backward(first.x), first.residual);
    }
    case Placement::kPreLn: {
      const StepGradients step = norm2_.AddNormBackward(feed_forward_.Backward(dy), &dy);
      return norm1_.NormOfStreamBackward(attention_.Backward(step.x), step.residual);
    }
    case Placement::kPostNormInResidual: {
      const StepGradients second = norm2_.NormAddBackward(dy);
      const StepGradients first = norm1_.NormAddBackward(Add(feed_forward_.Backward(second.x), second.residual));
      return Add(attention_.Backward(first.x), first.residual);
    }
    case Placement::kNoNorm: {
      const Matrix d_after_attention = Add(feed_forward_.Backward(dy), dy);
      return Add(attention_.Backward(d_after_attention), d_after_attention);
    }
    case Placement::kNoResidual:
      return attention_.Backward(feed_forward_.Backward(dy));
  }
  return {};
}

Parameters EncoderLayer::parameters() {
  Parameters parameters;
  Append("self_attn.", attention_.parameters(), &parameters);
  Append("", feed_forward_.parameters(), &parameters);
  if (placement_ == Placement::kNoResidual || placement_ == Placement::kNoNorm) return parameters;
  Append("norm1.", norm1_.parameters(), &parameters);
  Append("norm2.", norm2_.parameters(), &parameters);
  return parameters;
}

}  // namespace encoder
