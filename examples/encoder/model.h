// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A small encoder that is trained: embedding, a stack of layers, a norm where the placement leaves the stream without
// one, and a linear head with a cross-entropy loss. It tells how large activations and gradients are at each layer.
#ifndef ADDNORM_EXAMPLES_ENCODER_MODEL_H_
#define ADDNORM_EXAMPLES_ENCODER_MODEL_H_

#include <cstdint>
#include <random>
#include <vector>

#include "encoder/encoder_layer.h"

namespace encoder {

// Numbers that depend on the seed alone: the standard's distributions differ between its implementations.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // In [-limit, limit).
  double Uniform(double limit) { return (static_cast<double>(engine_() >> 11) * 0x1p-52 - 1) * limit; }
  // In [0, count).
  int Below(int count) { return static_cast<int>(engine_() % static_cast<uint64_t>(count)); }

 private:
  std::mt19937_64 engine_;
};

// Sequences of one length, one after the other. A position without a target (-1) does not count in the loss.
struct Batch {
  std::vector<int> inputs;
  std::vector<int> targets;
};

struct ModelConfig {
  LayerConfig layer;
  int layers = 12;
  int symbols = 9;
  int time = 16;
};

// Root mean square of the stream as it leaves a layer, and the norms of the loss's gradients there.
struct LayerScale {
  double activation = 0;
  double stream_gradient = 0;     // of the stream
  double parameter_gradient = 0;  // of all of the layer's parameters; 0 for the embedding
};

class Model {
 public:
  // Weights as Glorot & Bengio (2010) draw them, uniform; biases 0, gamma 1, beta 0.
  Model(const ModelConfig& config, uint64_t seed);

  // The mean cross-entropy of the batch.
  double Forward(const Batch& batch);
  // Part of the targets that the last forward pass gave the largest probability.
  double accuracy() const { return accuracy_; }
  // Writes the gradients of all parameters.
  void Backward();
  // Of the last passes: first the embedding, then each layer.
  const std::vector<LayerScale>& scales() const { return scales_; }
  Parameters parameters();

 private:
  Matrix Embed(const Batch& batch) const;
  double Loss(const Matrix& logits, const Batch& batch);

  ModelConfig config_;
  Parameter symbols_;
  Parameter positions_;
  std::vector<EncoderLayer> layers_;
  AddNormStep final_norm_;
  Linear head_;
  Batch batch_;
  Matrix d_logits_;
  double accuracy_ = 0;
  std::vector<LayerScale> scales_;
};

// Adam (Kingma & Ba, 2015), with a learning rate that rises linearly over the first `warmup` steps.
class Adam {
 public:
  Adam(const Parameters& parameters, double rate, int warmup);
  void Step();

 private:
  Parameters parameters_;
  std::vector<Matrix> first_, second_;  // moments
  double rate_;
  int warmup_;
  int step_ = 0;
};

// The copy task: the first half of a sequence is random symbols, the second half is blank (0), and the model has to
// write the symbols there, in order.
Batch CopyTask(const ModelConfig& config, int sequences, Random* random);

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_MODEL_H_
