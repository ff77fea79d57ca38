// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_OPERANDS_H_
#define ADDNORM_BENCH_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  double epsilon() const { return case_.options.epsilon; }
  bool in_place() const { return case_.in_place; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return case_.shape.cols; }
  size_t copies() const { return copies_; }
  // Of one call: each operand counted once for reading it and once for writing it. Statistics are not counted.
  size_t bytes() const { return bytes_; }

  // By the names in addnorm.h and training.h.
  bool Has(const std::string& operand) const { return Find(operand) != nullptr; }
  size_t ElementSize(const std::string& operand) const;            // 0 where absent
  char* Data(const std::string& operand, const Part& part) const;  // null where absent
  addnorm_test::Args MakeArgs(const Part& part) const;

  Part All(size_t copy = 0) const { return {copy, 0, rows_}; }
  // The share of one of `parts` threads.
  Part Share(size_t copy, int part, int parts) const;

 private:
  // An operand that is there.
  struct Place {
    const addnorm_test::OperandField* field;
    addnorm_dtype dtype;
    size_t row_bytes;
    size_t offset;  // in a copy
  };
  const Place* Find(const std::string& operand) const;  // null where absent
  int64_t RowsOf(const Place& place) const;
  void PlaceOperands(bool written);
  void PlaceWorkspace();
  void Fill();
  char* At(const Place& place, const Part& part) const;

  BenchCase case_;
  int64_t rows_;
  size_t copies_ = 1, bytes_ = 0, copy_bytes_ = 0;
  std::vector<Place> places_;
  size_t workspace_ = 0;                                  // offset in a copy
  addnorm_test::Args args_;                               // all but the places
  std::unique_ptr<addnorm_test::DropoutMemory> dropout_;  // null without
  AlignedMemory memory_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_OPERANDS_H_
