// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The table of backward cases, every operation with every promised combination of dtypes, and a runner that owns the
// operands of a call of any of them: what op_case.h is for the forward operations.
#ifndef ADDNORM_TESTS_SUPPORT_BACKWARD_H_
#define ADDNORM_TESTS_SUPPORT_BACKWARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/training.h"
#include "support/args.h"
#include "support/dropout.h"
#include "support/inputs.h"
#include "support/op_case.h"

namespace addnorm_test {

const std::vector<OpCase>& AllBackwardCases();

inline bool IsBackwardOfLayerNorm(addnorm_op op) {
  return op == ADDNORM_OP_LAYER_NORM_BACKWARD || op == ADDNORM_OP_ADD_LAYER_NORM_BACKWARD ||
         op == ADDNORM_OP_LAYER_NORM_ADD_BACKWARD;
}
inline bool IsBackwardOfAddNorm(addnorm_op op) {
  return op == ADDNORM_OP_ADD_LAYER_NORM_BACKWARD || op == ADDNORM_OP_ADD_RMS_NORM_BACKWARD;
}
inline bool IsBackwardOfNormAdd(addnorm_op op) {
  return op == ADDNORM_OP_LAYER_NORM_ADD_BACKWARD || op == ADDNORM_OP_RMS_NORM_ADD_BACKWARD;
}

struct BackwardOptions {
  VectorType gamma = VectorType::kAbsent;
  VectorKind vectors = VectorKind::kUsual;
  double epsilon = 1e-5;
  float gamma_offset = 0.0f;
  float residual_scale = 1.0f;
  addnorm_dtype saved = 0;  // dtype of the mean and rstd that are given; 0: they are recomputed
  bool d_sum = true;
  addnorm_dtype sums = ADDNORM_F32;  // dtype of dgamma, dbeta and dbias; 0: not asked for
  bool dx = true;
  bool d_residual = true;
  bool dbeta = true, dbias = true;  // where sums are asked for
  bool accumulate = false;
  DropoutOptions dropout;
  std::string name;
};

std::vector<BackwardOptions> BackwardOptionsOf(const OpCase& op_case);
// The same with dropout, of the operations that have it; elsewhere none.
std::vector<BackwardOptions> BackwardDropoutOptionsOf(const OpCase& op_case);

// One call and its operands, by their names in training.h. Each run starts from the same memory.
class BackwardProblem {
 public:
  // Every operand `offset` elements beyond a 64-byte boundary, matrices and columns with `gap` elements between rows.
  BackwardProblem(const OpCase& op_case, const BackwardOptions& options, int64_t rows, int64_t cols, int64_t offset = 0,
                  int64_t gap = 0);

  const OpCase& op_case() const { return *case_; }
  const BackwardOptions& options() const { return options_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool Has(const std::string& operand) const { return buffers_.count(operand) != 0; }
  addnorm_dtype Dtype(const std::string& operand) const { return buffers_.at(operand).dtype; }

  // Row r of x gets the kind first_kind + r, dy and d_sum other ones; saved statistics are those of the forward call.
  void FillByKind(uint64_t seed, int first_kind = 0);
  void Fill(DataKind x, DataKind dy, uint64_t seed);
  void Set(const std::string& operand, int64_t row, int64_t col, double value);
  // The inputs of another problem with the same case, rows of `from` starting at from_row.
  void CopyInputs(const BackwardProblem& from, int64_t from_row = 0);
  // The statistics of x as the forward call writes them. FillByKind and Fill do it.
  void SaveStatistics();

  addnorm_status Run();
  void Reset();
  Args MakeArgs() const;
  // Moves an output to the memory of an input of its dtype.
  void PutInPlace(const std::string& output, const std::string& input) { in_place_[output] = input; }

  double Get(const std::string& operand, int64_t row, int64_t col) const;    // after Run
  double Input(const std::string& operand, int64_t row, int64_t col) const;  // before it
  // All outputs, with each NaN one pattern: equal strings are equal bits.
  std::string Outputs() const { return Outputs({"dx", "d_residual", "dgamma", "dbeta", "dbias"}); }
  std::string Outputs(const std::vector<std::string>& operands, int64_t first_row = 0, int64_t count = -1) const;
  // Empty if no byte outside of the outputs' elements and the workspace changed.
  std::string Untouched() const;

 private:
  struct Buffer {
    const OperandField* field;
    addnorm_dtype dtype;
    int64_t rows, cols, stride;
    size_t start;
    std::vector<unsigned char> memory, first;
  };
  void AddOperand(const OperandField& field, int64_t offset, int64_t gap);
  bool IsAsked(const OperandField& field) const;
  addnorm_dtype DtypeOf(const OperandField& field) const;
  const Buffer& At(const std::string& operand) const;
  void FillRow(const std::string& operand, int64_t row, DataKind kind, uint64_t seed);

  const OpCase* case_;
  BackwardOptions options_;
  int64_t rows_, cols_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, std::string> in_place_;
  std::vector<unsigned char> workspace_;
  size_t workspace_start_ = 0, workspace_size_ = 0;
  std::shared_ptr<DropoutMemory> dropout_;  // null without
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_BACKWARD_H_
