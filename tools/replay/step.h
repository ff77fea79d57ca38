// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// One Add & Norm step of a capture, as calls of the library.
#ifndef ADDNORM_TOOLS_REPLAY_STEP_H_
#define ADDNORM_TOOLS_REPLAY_STEP_H_

#include <addnorm/addnorm.h>

#include <cstddef>
#include <memory>
#include <string>

#include "capture.h"

namespace addnorm_test::replay {

// Elements of f32, aligned as large tensors are in inference runtimes.
class Operand {
 public:
  explicit Operand(size_t size);
  explicit Operand(const std::vector<float>& values);

  float* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* data) const;
  };
  size_t size_;
  std::unique_ptr<float[], Free> data_;
};

enum class Calls {
  kFused,    // AddLayerNorm or AddRmsNorm
  kUnfused,  // Add, then LayerNorm or RmsNorm of its result
};

// Copies the operands of a position and runs its step on whatever target the library is set to.
class Step {
 public:
  // with_sum asks a fused call for sum_out, which Pre-LN needs and Post-LN does not; unfused calls always write the
  // sum.
  Step(const Capture& capture, const Position& position, Calls calls, bool with_sum);

  // Throws std::runtime_error when the library refuses the call.
  void Run();
  // Overwrites the outputs, so that a stale result cannot be taken for a new one.
  void ClearOutputs();

  const Operand& y() const { return y_; }
  bool has_sum() const { return has_sum_; }
  const Operand& sum() const { return sum_; }
  // Bytes that the step reads and writes: each operand of each call once.
  size_t bytes() const { return bytes_; }

 private:
  void RunNorm(const Operand& input);
  void CountBytes();

  NormKind norm_;
  double epsilon_;
  int64_t rows_;
  int64_t cols_;
  Calls calls_;
  bool has_add_;
  bool has_sum_;  // Run writes sum_
  Operand residual_, x_, gamma_, beta_, sum_, y_;
  size_t bytes_ = 0;
};

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_STEP_H_
