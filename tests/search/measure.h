// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// How far a result is off: a fast measure that guides the search, and the oracle's, which counts.
#ifndef ADDNORM_TESTS_SEARCH_MEASURE_H_
#define ADDNORM_TESTS_SEARCH_MEASURE_H_

#include <cstddef>
#include <vector>

#include "row.h"
#include "support/numbers.h"

namespace addnorm_test {

// Of norms in ULP32(M); of reductions as a part of what their bound allows.
struct Measure {
  double error = 0.0;  // of the worst element; infinite where a result is wrong in kind, -1 where no bound speaks
  size_t at = 0;
  bool wide = false;
  double mean = 0.0, inverse = 0.0;  // of the row that is normalized
};

class Measurer {
 public:
  Measure Of(const Row& row, const Result& result);

 private:
  Measure Norm(const Row& row, const Result& result);
  Measure Reduction(const Row& row, const Result& result) const;

  std::vector<float> row_;
  LongDoubleStatistics statistics_;
};

struct ExactMeasure {
  double error;
  double bound;
};
ExactMeasure MeasureExactly(const Row& row, const Result& result, size_t at);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SEARCH_MEASURE_H_
