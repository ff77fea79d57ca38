// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Hidden sizes, norms and heads of well-known models, as their published configurations have them.
#include <addnorm/addnorm.h>

#include "suites.h"

namespace addnorm_bench {
namespace {

// Add & Norm as a family of models has it.
struct Step {
  addnorm_op op;
  bool sum_out;
  float gamma_offset;
};

constexpr Step kPostLn = {ADDNORM_OP_ADD_LAYER_NORM, false, 0.0f};
constexpr Step kPreLn = {ADDNORM_OP_ADD_LAYER_NORM, true, 0.0f};
constexpr Step kPreRms = {ADDNORM_OP_ADD_RMS_NORM, true, 0.0f};
constexpr Step kGemma = {ADDNORM_OP_RMS_NORM_ADD, true, 1.0f};  // after the sub-layer; weights around 0

struct Model {
  const char* name;
  int64_t cols;  // hidden size
  int64_t heads;
  int64_t head_dim;
  const Step* step;
  bool qk_norm;  // each head of the queries is normalized (RMSNorm)
  int64_t tokens;
};

constexpr int64_t kPrompt = 512;  // tokens of a prompt

constexpr Model kModels[] = {
    {"BERT base", 768, 12, 64, &kPostLn, false, 128},
    {"BERT large", 1024, 16, 64, &kPostLn, false, 128},
    {"ViT-B/16", 768, 12, 64, &kPreLn, false, 197},
    {"ViT-L/16", 1024, 16, 64, &kPreLn, false, 197},
    {"ViT-H/14", 1280, 16, 80, &kPreLn, false, 257},
    {"Llama 3.2 1B", 2048, 32, 64, &kPreRms, false, kPrompt},
    {"Llama 3.1 8B", 4096, 32, 128, &kPreRms, false, kPrompt},
    {"Llama 3.1 70B", 8192, 64, 128, &kPreRms, false, kPrompt},
    {"Llama 3.1 405B", 16384, 128, 128, &kPreRms, false, kPrompt},
    {"Qwen2.5 7B", 3584, 28, 128, &kPreRms, false, kPrompt},
    {"Qwen3 0.6B", 1024, 16, 128, &kPreRms, true, kPrompt},
    {"Qwen3 8B", 4096, 32, 128, &kPreRms, true, kPrompt},
    {"Qwen3 32B", 5120, 64, 128, &kPreRms, true, kPrompt},
    {"Gemma 2 2B", 2304, 8, 256, &kGemma, false, kPrompt},
    {"Gemma 2 9B", 3584, 16, 256, &kGemma, false, kPrompt},
    {"Gemma 3 4B", 2560, 8, 256, &kGemma, true, kPrompt},
    {"Gemma 3 27B", 5376, 32, 128, &kGemma, true, kPrompt},
    {"Mistral 7B v0.3", 4096, 32, 128, &kPreRms, false, kPrompt},
    {"Mistral Nemo 12B", 5120, 32, 128, &kPreRms, false, kPrompt},
    {"Mistral Large 2", 12288, 96, 128, &kPreRms, false, kPrompt},
};

BenchCase ModelCase(const Model& model, addnorm_op op, addnorm_dtype dtype, const MatrixShape& shape) {
  BenchCase made = MakeCase(UniformOpCase(op, dtype), shape);
  made.label = model.name;
  made.options.sum_out = model.step->sum_out;
  made.options.gamma_offset = model.step->gamma_offset;
  return made;
}

}  // namespace

std::vector<BenchCase> ModelCases() {
  std::vector<BenchCase> cases;
  for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16}) {
    for (const Model& model : kModels) {
      for (const int64_t tokens : {int64_t{1}, model.tokens}) {
        if (tokens == 1 && model.step->op == ADDNORM_OP_ADD_LAYER_NORM) continue;  // encoders have no decode step
        cases.push_back(ModelCase(model, model.step->op, dtype, {tokens, model.cols}));
        if (!model.qk_norm) continue;
        cases.push_back(ModelCase(model, ADDNORM_OP_RMS_NORM, dtype, {tokens * model.heads, model.head_dim}));
        cases.back().label += " QK norm";
      }
    }
  }
  return cases;
}

}  // namespace addnorm_bench
