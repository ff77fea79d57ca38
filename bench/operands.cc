// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "machine.h"
#include "support/backward.h"
#include "support/dtype.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Args;
using addnorm_test::OperandField;
using addnorm_test::Problem;
using addnorm_test::Shape;

constexpr size_t kAlignment = 64;
// Longer matrices repeat so many rows.
constexpr int64_t kSampleRows = 32;
constexpr uint64_t kSeed = 1;
// Between operands, so that the same element of two of them is not in the same set of a cache, nor at the same place of
// a page.
constexpr size_t kStagger = 5 * kAlignment;
// How many times the last cache the copies of a cold case take up.
constexpr size_t kColdCaches = 3;

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A call on the first rows, and what owns its operands.
struct SampleCall {
  Args args;
  std::shared_ptr<const void> problem;
};

template <class ProblemType, class CallOptions>
SampleCall Sample(const BenchCase& c, const CallOptions& options, int64_t rows) {
  const auto problem = std::make_shared<ProblemType>(*c.op_case, options, std::min(rows, kSampleRows), c.shape.cols);
  if constexpr (std::is_same_v<ProblemType, Problem>) {
    problem->Fill(c.data, kSeed);
    if (c.in_place) {
      // A norm of a norm is the norm then, however often: values neither grow nor vanish.
      const std::vector<float> ones(static_cast<size_t>(c.shape.cols), 1.0f), zeros(ones.size(), 0.0f);
      if (problem->Has(addnorm_test::kGamma)) problem->Set(addnorm_test::kGamma, 0, ones);
      if (problem->Has(addnorm_test::kBeta)) problem->Set(addnorm_test::kBeta, 0, zeros);
    }
  } else {
    problem->Fill(c.data, addnorm_test::DataKind::kNormal, kSeed);
  }
  problem->Reset();
  return {problem->MakeArgs(), problem};
}

SampleCall Sample(const BenchCase& c, int64_t rows) {
  if (c.op_case->fields->is_backward()) {
    return Sample<addnorm_test::BackwardProblem>(c, ModelBackwardOptions(*c.op_case, c.options.epsilon), rows);
  }
  return Sample<Problem>(c, c.options, rows);
}

}  // namespace

AlignedMemory::AlignedMemory(size_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, RoundUp(std::max<size_t>(bytes, 1)));
  if (memory == nullptr) {
    std::fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    std::abort();
  }
  std::memset(memory, 0, bytes);
  data_.reset(static_cast<char*>(memory));
}

void AlignedMemory::Free::operator()(char* memory) const { std::free(memory); }

Operands::Operands(const BenchCase& bench_case, int64_t max_rows)
    : case_(bench_case), rows_(std::min(bench_case.shape.rows, max_rows)), args_(*bench_case.op_case->fields) {
  const SampleCall sample = Sample(case_, rows_);
  args_ = sample.args;
  if (case_.options.dropout.present()) {
    dropout_.reset(new addnorm_test::DropoutMemory(case_.options.dropout, rows_, case_.shape.cols));
    args_.set_dropout(dropout_->args());
  }
  if (case_.streaming) args_.set_store(ADDNORM_STORE_STREAMING);
  PlaceOperands(false);
  PlaceOperands(true);
  PlaceWorkspace();
  if (case_.cold) copies_ = kColdCaches * LastCacheBytes() / copy_bytes_ + 1;
  memory_ = AlignedMemory(copies_ * copy_bytes_);
  Fill();
}

void Operands::PlaceOperands(bool written) {
  for (const OperandField& field : op_case().fields->operands) {
    const addnorm_output sample = args_.Get(field);
    if (field.written != written || sample.data == nullptr) continue;
    const int64_t cols = field.shape == Shape::kColumn ? 1 : case_.shape.cols;
    Place place = {&field, sample.dtype, static_cast<size_t>(cols) * addnorm_test::DtypeSize(sample.dtype),
                   copy_bytes_};
    const size_t bytes = place.row_bytes * static_cast<size_t>(RowsOf(place));
    if (field.shape != Shape::kColumn) bytes_ += bytes;
    const std::string input = case_.in_place ? InPlaceOf(op_case(), field.name) : field.name;
    if (input != field.name) {
      place.offset = Find(input)->offset;
    } else {
      copy_bytes_ += RoundUp(bytes) + kStagger;
    }
    places_.push_back(place);
  }
}

void Operands::PlaceWorkspace() {
  int32_t sums = 0;
  for (const Place& place : places_) sums += place.field->written && place.field->shape == Shape::kVector;
  if (sums == 0) return;
  size_t bytes = 0;
  if (addnorm_backward_workspace(rows_, cols(), sums, &bytes) != ADDNORM_OK) std::abort();
  workspace_ = copy_bytes_;
  copy_bytes_ += RoundUp(bytes) + kStagger;
  args_.set_workspace(nullptr, bytes);
}

void Operands::Fill() {
  for (const Place& place : places_) {
    if (place.field->written) continue;
    const char* const rows = static_cast<const char*>(args_.Get(*place.field).data);
    const int64_t count = RowsOf(place);
    for (int64_t row = 0; row < count; row += kSampleRows) {
      const size_t bytes = place.row_bytes * static_cast<size_t>(std::min(kSampleRows, count - row));
      std::memcpy(memory_.data() + place.offset + place.row_bytes * static_cast<size_t>(row), rows, bytes);
    }
  }
  for (size_t copy = 1; copy < copies_; ++copy) {
    std::memcpy(memory_.data() + copy * copy_bytes_, memory_.data(), copy_bytes_);
  }
}

const Operands::Place* Operands::Find(const std::string& operand) const {
  for (const Place& place : places_) {
    if (operand == place.field->name) return &place;
  }
  return nullptr;
}

int64_t Operands::RowsOf(const Place& place) const { return place.field->shape == Shape::kVector ? 1 : rows_; }

size_t Operands::ElementSize(const std::string& operand) const {
  const Place* const place = Find(operand);
  return place != nullptr ? addnorm_test::DtypeSize(place->dtype) : 0;
}

char* Operands::At(const Place& place, const Part& part) const {
  const size_t row = place.field->shape == Shape::kVector ? 0 : static_cast<size_t>(part.first_row);
  return memory_.data() + part.copy * copy_bytes_ + place.offset + row * place.row_bytes;
}

char* Operands::Data(const std::string& operand, const Part& part) const {
  const Place* const place = Find(operand);
  return place != nullptr ? At(*place, part) : nullptr;
}

Args Operands::MakeArgs(const Part& part) const {
  Args args = args_;
  args.set_rows(part.rows);
  for (const Place& place : places_) {
    addnorm_output operand = args.Get(*place.field);
    operand.data = At(place, part);
    args.Set(*place.field, operand);
  }
  if (workspace_ != 0) {
    args.set_workspace(memory_.data() + part.copy * copy_bytes_ + workspace_, args_.workspace_size());
  }
  return args;
}

Part Operands::Share(size_t copy, int part, int parts) const {
  const int64_t first = rows_ * part / parts;
  return {copy, first, rows_ * (part + 1) / parts - first};
}

}  // namespace addnorm_bench
