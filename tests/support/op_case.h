// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The one table of op cases that tests and benchmarks walk, every operation with every dtype combination the library
// promises for it, and a runner that owns the operands of a call of any of them.
#ifndef ADDNORM_TESTS_SUPPORT_OP_CASE_H_
#define ADDNORM_TESTS_SUPPORT_OP_CASE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/args.h"
#include "support/dropout.h"
#include "support/inputs.h"
#include "support/ops.h"
#include "support/oracle.h"

namespace addnorm_test {

struct OpCase {
  const OpFields* fields = nullptr;  // how it is called
  addnorm_dtypes dtypes = {};
  std::string name;  // as in "add_rms_norm/bf16+f32>f32>bf16"
  addnorm_op op() const { return fields->op; }
};

// Of operations, with each promised combination of dtypes.
std::vector<OpCase> CasesOf(const std::vector<OpFields>& operations);
// All forward ones, in the library's order.
const std::vector<OpCase>& AllOpCases();
const OpCase& FindOpCase(addnorm_op op, addnorm_dtypes dtypes);  // aborts where not promised (vectors is not looked at)

enum Operand {
  kX,
  kResidual,
  kGamma,
  kBeta,
  kBias,
  kY,
  kSumOut,
  kMean,
  kRstd,
  kVariance,
  kMeanSquare,
  kRms,
  kOperands
};
const char* OperandName(Operand operand);  // as in addnorm.h
Operand OperandOf(const OperandField& field);
inline bool IsOutput(Operand operand) { return operand >= kY; }

// How gamma, beta or bias is given.
enum class VectorType { kAbsent, kF32, kStorage };  // kStorage: the combination's 16-bit type (f32 where it has none)

struct Options {
  VectorType gamma = VectorType::kAbsent;
  VectorType beta = VectorType::kAbsent;
  VectorType bias = VectorType::kAbsent;
  VectorKind vectors = VectorKind::kUsual;
  double epsilon = 1e-5;
  float gamma_offset = 0.0f;
  float residual_scale = 1.0f;
  addnorm_dtype norm_dtype = 0;
  addnorm_dtype norm_out_dtype = 0;
  bool sum_out = true;                     // of the Add*Norm; Add always has it
  addnorm_dtype mean = 0;                  // dtype of the mean that LayerNorm writes; 0: not asked for
  addnorm_dtype rstd = 0;                  // the same for rstd
  addnorm_dtype statistics = ADDNORM_F64;  // dtype of what a reduction writes
  DropoutOptions dropout;
  std::string name;  // for messages
};

// The options that make a difference to an operation of these dtypes, alone and together.
std::vector<Options> OptionsOf(const OpCase& op_case);
// The same with dropout, of the operations that have it; elsewhere none.
std::vector<Options> DropoutOptionsOf(const OpCase& op_case);

// Where an operand lies in memory.
struct Placement {
  int64_t offset = 0;  // elements from a 64-byte boundary
  int64_t gap = 0;     // row_stride - cols
};

struct Layout {
  std::array<Placement, kOperands> at = {};
  // The input whose memory an output shares, or the output itself where it has its own.
  Operand y_is = kY;
  Operand sum_is = kSumOut;

  static Layout Shifted(int64_t offset, int64_t gap);  // the same for every operand, but gaps for matrices only
};

// One call and its operands. Fill the inputs, then Run() as often as wanted: each run starts from the same memory.
class Problem {
 public:
  Problem(const OpCase& op_case, const Options& options, int64_t rows, int64_t cols, const Layout& layout = Layout());
  Problem(Problem&&) = default;  // memory stays where it is
  Problem& operator=(Problem&&) = default;

  const OpCase& op_case() const { return *case_; }
  const Options& options() const { return options_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool Has(Operand operand) const { return buffers_[static_cast<size_t>(operand)].present; }
  addnorm_dtype Dtype(Operand operand) const { return buffers_[static_cast<size_t>(operand)].dtype; }

  // Inputs. Values are rounded to the operand's dtype. Vectors have the one row 0.
  void Set(Operand operand, int64_t row, const std::vector<float>& values);
  void Set(Operand operand, int64_t row, int64_t col, float value);
  float Input(Operand operand, int64_t row, int64_t col) const;  // as stored
  // Row r gets the kind first_kind + r (mod the number of kinds), residual the same kind, gamma, beta and bias
  // options.vectors.
  void FillByKind(uint64_t seed, int first_kind = 0);
  // All rows one kind.
  void Fill(DataKind kind, uint64_t seed);
  void FillVectors(uint64_t seed);
  // The inputs of another problem with the same case, rows of `from` starting at from_row.
  void CopyInputs(const Problem& from, int64_t from_row = 0);

  // Puts all memory into its first state and makes the call.
  addnorm_status Run();
  // The parts of Run.
  void Reset();
  Args MakeArgs() const;

  // After Run: what was written.
  double Get(Operand output, int64_t row, int64_t col = 0) const;
  uint64_t Bits(Operand output, int64_t row, int64_t col = 0) const;  // each NaN is one pattern
  // All outputs, row by row, with each NaN one pattern: equal strings are equal bits.
  std::string Outputs() const { return OutputsOfRows(0, rows_); }
  std::string OutputsOfRows(int64_t first, int64_t count) const;
  std::string OutputBytes(Operand output, int64_t row) const;
  // Empty if no byte outside of the outputs' elements changed: inputs, gaps, margins. Else what did.
  std::string Untouched() const;

  // The operands of one row for the oracle. Valid while the problem is.
  OracleRow ForOracle(int64_t row) const;

 private:
  struct Buffer {
    bool present = false;
    addnorm_dtype dtype = 0;
    Shape shape = Shape::kMatrix;
    size_t owner = 0;  // index of the buffer whose memory this uses
    int64_t rows = 0, cols = 0, stride = 0;
    size_t start = 0;  // bytes from the start of memory
    std::vector<unsigned char> memory, first;
    std::vector<float> values;  // of inputs, as stored, packed
  };
  Buffer& At(Operand operand) { return buffers_[static_cast<size_t>(operand)]; }
  const Buffer& At(Operand operand) const { return buffers_[static_cast<size_t>(operand)]; }
  const unsigned char* RowStart(const Buffer& buffer, int64_t row) const;
  void AddOperand(Operand operand, const OperandField& field, const Layout& layout);
  addnorm_dtype DtypeOf(Operand operand) const;
  void WriteInputs();

  const OpCase* case_;
  Options options_;
  int64_t rows_, cols_;
  std::array<Buffer, kOperands> buffers_;
  std::unique_ptr<DropoutMemory> dropout_;  // null without
  bool inputs_changed_ = true;
};

// The 64-bit FNV-1a hash.
uint64_t Fnv1a(const std::string& bytes, uint64_t hash = 0xcbf29ce484222325u);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_OP_CASE_H_
