// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What a capture's steps must give, and whether stored or computed results do.
#ifndef ADDNORM_TOOLS_REPLAY_CHECK_H_
#define ADDNORM_TOOLS_REPLAY_CHECK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "capture.h"
#include "support/oracle.h"

namespace addnorm_test::replay {

// The exact results of one position.
struct ExactPosition {
  std::vector<Expected> y;    // by element
  std::vector<double> bound;  // by row, in ULP32(M)
};

// Computes the exact results from the stored P.sum, P.gamma and P.beta, and checks that the capture agrees with itself:
// P.sum is residual + x rounded once, P.y the exact result correctly rounded but for ties. Throws MalformedFile.
std::vector<ExactPosition> CheckCapture(const Capture& capture);

// The largest error of results, in ULP32(M).
struct Accuracy {
  double max_ulp = 0;
  double bound = 0;           // of the row with the largest bound
  std::string first_failure;  // empty: all are within the bound of their row
};
// Adds the results `y` of a position to `accuracy`.
void Measure(const Capture& capture, const Position& position, const ExactPosition& exact, const float* y,
             Accuracy* accuracy);

// As in: position "layer0.attention", row 3, column 17.
std::string ElementName(const Capture& capture, const Position& position, size_t index);

// Index of the first element whose bits differ, or `size`. NaN equals NaN.
size_t FirstDifference(const float* a, const float* b, size_t size);

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_CHECK_H_
