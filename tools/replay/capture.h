// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The capture model: the operands of the Add & Norm steps of one run of a transformer (tests/data/README.md).
#ifndef ADDNORM_TOOLS_REPLAY_CAPTURE_H_
#define ADDNORM_TOOLS_REPLAY_CAPTURE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace addnorm_test::replay {

enum class NormKind { kLayer, kRms };
enum class Placement { kPost, kPre };

// One Add & Norm step. Matrices are rows x cols, contiguous.
struct Position {
  std::string name;
  bool has_add = true;  // false: the norm follows the embedding, there is no residual and no x
  std::vector<float> residual;
  std::vector<float> x;
  std::vector<float> sum;
  std::vector<float> gamma;
  std::vector<float> beta;  // LayerNorm only
  std::vector<float> y;
};

struct Capture {
  std::string path;
  std::string model;
  NormKind norm = NormKind::kLayer;
  Placement placement = Placement::kPost;
  double epsilon = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<Position> positions;
};

// Throws MalformedFile when the file is no safetensors file or no complete capture. Whether its numbers agree with each
// other is CheckCapture's matter.
Capture ReadCapture(const std::string& path);

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_CAPTURE_H_
