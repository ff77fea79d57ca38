// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The encoder layer once more, as it stands in textbooks: plain loops in f64, without Eigen and addnorm. The tests
// compare it with PyTorch where PyTorch has the placement, and the layer with it everywhere.
#ifndef ADDNORM_EXAMPLES_ENCODER_ORACLE_H_
#define ADDNORM_EXAMPLES_ENCODER_ORACLE_H_

#include <map>
#include <string>
#include <vector>

#include "encoder/encoder_layer.h"

namespace encoder {

// By PyTorch's parameter names, row by row.
using Values = std::map<std::string, std::vector<double>>;

// The layer's result for x, `time` rows of each sequence.
std::vector<double> OracleForward(const LayerConfig& config, const Values& parameters, const std::vector<double>& x,
                                  int time);

// The gradient of sum(dy * y) with respect to `values`, which is x or one of the parameters, by central differences.
std::vector<double> OracleGradient(const LayerConfig& config, Values* parameters, std::vector<double>* x, int time,
                                   const std::vector<double>& dy, std::vector<double>* values);

}  // namespace encoder

#endif  // ADDNORM_EXAMPLES_ENCODER_ORACLE_H_
