// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// That the replay would notice a kernel that is wrong.
#include "check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/dtype.h"
#include "support/ulp.h"

namespace addnorm_test::replay {
namespace {

const char kCapture[] = ADDNORM_TEST_DATA "/minilm-post-ln.safetensors";

class CheckTest : public testing::Test {
 protected:
  CheckTest() : capture_(ReadCapture(kCapture)) {
    capture_.positions.resize(1);
    exact_ = CheckCapture(capture_);
    y_ = position().y;
  }

  const Position& position() const { return capture_.positions[0]; }
  Accuracy Measured() const {
    Accuracy accuracy;
    Measure(capture_, position(), exact_[0], y_.data(), &accuracy);
    return accuracy;
  }

  Capture capture_;
  std::vector<ExactPosition> exact_;
  std::vector<float> y_;
};

TEST_F(CheckTest, StoredResultIsNearlyExact) {
  const Accuracy accuracy = Measured();
  EXPECT_GT(accuracy.max_ulp, 0.25);
  EXPECT_LE(accuracy.max_ulp, 0.51);
  EXPECT_EQ(accuracy.first_failure, "");
}

TEST_F(CheckTest, ErrorBeyondTheBoundIsNamed) {
  const size_t index = 2 * 384 + 5;
  y_[index] += static_cast<float>(6 * Ulp32(exact_[0].y[index].magnitude));
  const Accuracy accuracy = Measured();
  EXPECT_GT(accuracy.max_ulp, accuracy.bound);
  EXPECT_EQ(accuracy.first_failure.rfind("position \"embeddings\", row 2, column 5: error of ", 0), 0u)
      << accuracy.first_failure;
}

TEST_F(CheckTest, NotANumberIsBeyondEveryBound) {
  y_[7] = std::nanf("");
  EXPECT_EQ(Measured().max_ulp, std::numeric_limits<double>::infinity());
  EXPECT_NE(Measured().first_failure, "");
}

TEST(FirstDifference, ComparesBits) {
  const float a[] = {1.0f, 0.0f, std::nanf("1"), 2.0f};
  float b[] = {1.0f, 0.0f, -std::nanf("2"), 2.0f};
  EXPECT_EQ(FirstDifference(a, b, 4), 4u);
  b[3] = F32OfBits(BitsOf(2.0f) + 1);
  EXPECT_EQ(FirstDifference(a, b, 4), 3u);
  b[1] = -0.0f;
  EXPECT_EQ(FirstDifference(a, b, 4), 1u);
}

}  // namespace
}  // namespace addnorm_test::replay
