// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// docs/BATCH.md: what a norm makes of a token does not change with the batch that the token comes in. One token alone,
// as decoding takes it, has the bits that it has in any batch, at any position, next to anything.
#include <gtest/gtest.h>

#include <addnorm/addnorm.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/equal_bits.h"
#include "support/inputs.h"
#include "support/op_case.h"
#include "support/ops.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

void CopyRow(const Problem& from, Operand operand, Problem* to, int64_t row) {
  if (!from.Has(operand)) return;
  std::vector<float> values;
  for (int64_t col = 0; col < from.cols(); ++col) values.push_back(from.Input(operand, 0, col));
  to->Set(operand, row, values);
}

// Rows of all kinds, hard ones too, and some that are not finite; among them the token.
Problem BatchAround(const Problem& token, int64_t rows, int64_t position) {
  Problem batch(token.op_case(), token.options(), rows, token.cols());
  batch.FillByKind(static_cast<uint64_t>(100 * rows + position), static_cast<int>(position));
  for (int64_t row = position % 3; row < rows; row += 4) {
    batch.Set(kX, row, row % token.cols(),
              row % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity());
  }
  for (const Operand vector : {kGamma, kBeta, kBias}) CopyRow(token, vector, &batch, 0);
  for (const Operand matrix : {kX, kResidual}) CopyRow(token, matrix, &batch, position);
  return batch;
}

TEST(BatchIndependence, ATokenAloneIsTheTokenInAnyBatch) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op())) continue;
    const Options options = OptionsOf(op_case).back();
    for (const int64_t cols : {7, 64, 384}) {
      Problem token(op_case, options, 1, cols);
      token.FillByKind(static_cast<uint64_t>(cols), static_cast<int>(cols + op_case.op()) % kDataKinds);
      const std::string alone = RunOn("scalar", token);
      std::vector<std::pair<int64_t, Problem>> batches;  // with the token's position
      for (const int64_t rows : {2, 9, 31}) {
        for (int64_t position = 0; position < rows; position += rows < 9 ? 1 : 4) {
          batches.emplace_back(position, BatchAround(token, rows, position));
        }
      }
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        EXPECT_TRUE(SameBits(target, RunOn(target, token), alone, token));
        for (auto& [position, batch] : batches) {
          RunOn(target, batch);
          EXPECT_TRUE(SameBits(target, batch.OutputsOfRows(position, 1), alone, batch)) << "token " << position;
        }
      }
      if (HasFailure()) return;
    }
  }
}

// As programs call it: sequences of a batch at once, then step by step.

constexpr int64_t kBatch = 3, kTime = 17, kCols = 96;

struct Sequences {
  std::vector<float> x, residual, gamma, beta, y;

  Sequences() : y(kBatch * kTime * kCols) {
    for (int64_t token = 0; token < kBatch * kTime; ++token) {
      const auto kind = static_cast<DataKind>(token % kDataKinds);
      for (std::vector<float>* rows : {&x, &residual}) {
        const auto row = MakeRow(kind, ADDNORM_F32, kCols, static_cast<uint64_t>(token) + (rows == &x ? 0 : 99));
        rows->insert(rows->end(), row.begin(), row.end());
      }
    }
    gamma = MakeGamma(VectorKind::kUsual, ADDNORM_F32, kCols, 1);
    beta = MakeBeta(VectorKind::kUsual, ADDNORM_F32, kCols, 2);
  }

  // `rows` tokens, `distance` tokens apart.
  addnorm::Status Run(addnorm_op op, int64_t first, int64_t rows, int64_t distance) {
    const auto view = [=](std::vector<float>& data) {
      return addnorm::Matrix<float>(data.data() + first * kCols, rows, kCols, distance * kCols);
    };
    addnorm::AddNormOptions before;
    addnorm::NormAddOptions after;
    for (addnorm::NormOptions* options :
         {static_cast<addnorm::NormOptions*>(&before), static_cast<addnorm::NormOptions*>(&after)}) {
      options->gamma = addnorm::Vector(gamma.data(), kCols);
      options->beta = addnorm::Vector(beta.data(), kCols);
    }
    constexpr double kEpsilon = 1e-6;
    switch (op) {
      case ADDNORM_OP_LAYER_NORM:
        return addnorm::LayerNorm(view(x), view(y), kEpsilon, before);
      case ADDNORM_OP_RMS_NORM:
        return addnorm::RmsNorm(view(x), view(y), kEpsilon, before);
      case ADDNORM_OP_ADD_LAYER_NORM:
        return addnorm::AddLayerNorm(view(x), view(residual), view(y), kEpsilon, before);
      case ADDNORM_OP_ADD_RMS_NORM:
        return addnorm::AddRmsNorm(view(x), view(residual), view(y), kEpsilon, before);
      case ADDNORM_OP_LAYER_NORM_ADD:
        return addnorm::LayerNormAdd(view(x), view(residual), view(y), kEpsilon, after);
      default:
        return addnorm::RmsNormAdd(view(x), view(residual), view(y), kEpsilon, after);
    }
  }

  std::string Result() const {
    std::string bytes(y.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), y.data(), bytes.size());
    return bytes;
  }
};

// Also when the prompt was processed on one kind of CPU and the tokens are decoded on another.
TEST(BatchIndependence, DecodingEqualsPrefillOnAnyOtherTarget) {
  for (const addnorm_op op : {ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM, ADDNORM_OP_ADD_LAYER_NORM,
                              ADDNORM_OP_ADD_RMS_NORM, ADDNORM_OP_LAYER_NORM_ADD, ADDNORM_OP_RMS_NORM_ADD}) {
    for (const std::string& prefill_target : TestedTargets()) {
      Sequences prefill;
      {
        const ScopedTarget scoped(prefill_target);
        ASSERT_TRUE(prefill.Run(op, 0, kBatch * kTime, 1).ok());
      }
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        Sequences one_by_one, in_step;
        for (int64_t token = 0; token < kBatch * kTime; ++token) {
          ASSERT_TRUE(one_by_one.Run(op, token, 1, 1).ok());
        }
        for (int64_t time = 0; time < kTime; ++time) ASSERT_TRUE(in_step.Run(op, time, kBatch, kTime).ok());
        EXPECT_EQ(one_by_one.Result(), prefill.Result()) << op << " on " << prefill_target << " and " << target;
        EXPECT_EQ(in_step.Result(), prefill.Result()) << op << " on " << prefill_target << " and " << target;
        CountChecks(target, 2 * kBatch * kTime * kCols);
      }
    }
  }
}

// Why the statistics have to be those of the token: a norm by the mean and variance of each feature over the batch
// (BatchNorm in training) gives a token another value in each batch, and to a token alone its beta, here 0.
TEST(BatchIndependence, StatisticsOverTheBatchChangeWithIt) {
  const auto batch_norm_of_first = [](const std::vector<double>& feature) {
    double mean = 0, variance = 0;
    for (const double value : feature) mean += value / static_cast<double>(feature.size());
    for (const double value : feature)
      variance += (value - mean) * (value - mean) / static_cast<double>(feature.size());
    return (feature[0] - mean) / std::sqrt(variance + 1e-5);
  };
  const double token = 1.5;
  EXPECT_EQ(batch_norm_of_first({token}), 0);
  EXPECT_GT(batch_norm_of_first({token, 0, 0.5}), 1);
  EXPECT_LT(batch_norm_of_first({token, 3, 2.5}), -1);
}

}  // namespace
}  // namespace addnorm_test
