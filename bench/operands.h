// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_OPERANDS_H_
#define ADDNORM_BENCH_OPERANDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cases.h"

namespace addnorm_bench {

// 64-byte aligned memory, in pages that were touched.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(size_t bytes);
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> data_;
};

// A range of rows of one copy of the operands.
struct Part {
  size_t copy = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};

// The operands of a case, contiguous and aligned; in a cold case so many copies of them that none is in a cache any
// more when its turn comes again.
class Operands {
 public:
  // `max_rows` makes a shorter matrix of the same kind.
  explicit Operands(const BenchCase& bench_case, int64_t max_rows = INT64_MAX);

  const addnorm_test::OpCase& op_case() const { return *case_.op_case; }
  const addnorm_test::Options& options() const { return case_.options; }
  bool in_place() const { return case_.in_place; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return case_.shape.cols; }
  size_t copies() const { return copies_; }
  // Of one call: each operand counted once for reading it and once for writing it. Statistics are not counted.
  size_t bytes() const { return bytes_; }

  bool Has(addnorm_test::Operand operand) const { return places_[operand].present; }
  addnorm_dtype Dtype(addnorm_test::Operand operand) const { return places_[operand].dtype; }
  char* Data(addnorm_test::Operand operand, const Part& part) const;  // null where absent
  addnorm_test::Args MakeArgs(const Part& part) const;

  Part All(size_t copy = 0) const { return {copy, 0, rows_}; }
  // The share of one of `parts` threads.
  Part Share(size_t copy, int part, int parts) const;

 private:
  struct Place {
    bool present = false;
    addnorm_dtype dtype = 0;
    addnorm_test::Shape shape = addnorm_test::Shape::kMatrix;
    size_t offset = 0;  // in a copy
    size_t row_bytes = 0;
  };
  void Fill(const addnorm_test::Problem& sample);

  BenchCase case_;
  int64_t rows_;
  size_t copies_ = 1, bytes_ = 0, copy_bytes_ = 0;
  std::array<Place, addnorm_test::kOperands> places_;
  addnorm_test::Args args_;                               // all but the places
  std::unique_ptr<addnorm_test::DropoutMemory> dropout_;  // null without
  AlignedMemory memory_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_OPERANDS_H_
