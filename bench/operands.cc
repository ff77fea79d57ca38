// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "machine.h"
#include "support/dtype.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Args;
using addnorm_test::Operand;
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

Problem Sample(const BenchCase& c, int64_t rows) {
  Problem sample(*c.op_case, c.options, std::min(rows, kSampleRows), c.shape.cols);
  sample.Fill(c.data, kSeed);
  if (c.in_place) {
    // A norm of a norm is the norm then, however often: values neither grow nor vanish.
    const std::vector<float> ones(static_cast<size_t>(c.shape.cols), 1.0f), zeros(ones.size(), 0.0f);
    if (sample.Has(addnorm_test::kGamma)) sample.Set(addnorm_test::kGamma, 0, ones);
    if (sample.Has(addnorm_test::kBeta)) sample.Set(addnorm_test::kBeta, 0, zeros);
  }
  sample.Reset();
  return sample;
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
  const Problem sample = Sample(case_, rows_);
  args_ = sample.MakeArgs();
  if (case_.options.dropout.present()) {
    dropout_.reset(new addnorm_test::DropoutMemory(case_.options.dropout, rows_, case_.shape.cols));
    args_.set_dropout(dropout_->args());
  }
  if (case_.streaming) args_.set_store(ADDNORM_STORE_STREAMING);
  for (size_t i = 0; i < places_.size(); ++i) {
    const Operand operand = static_cast<Operand>(i);
    if (!sample.Has(operand)) continue;
    Place& place = places_[i];
    place.present = true;
    place.dtype = sample.Dtype(operand);
    place.shape = op_case().fields->Find(addnorm_test::OperandName(operand))->shape;
    const int64_t cols = place.shape == Shape::kColumn ? 1 : case_.shape.cols;
    place.row_bytes = static_cast<size_t>(cols) * addnorm_test::DtypeSize(place.dtype);
    const size_t bytes = place.row_bytes * static_cast<size_t>(place.shape == Shape::kVector ? 1 : rows_);
    if (place.shape != Shape::kColumn) bytes_ += bytes;
    const Operand input = case_.in_place ? InPlaceOf(op_case(), operand) : operand;
    if (input != operand) {
      place.offset = places_[input].offset;  // inputs come first
      continue;
    }
    place.offset = copy_bytes_;
    copy_bytes_ += RoundUp(bytes) + kStagger;
  }
  if (case_.cold) copies_ = kColdCaches * LastCacheBytes() / copy_bytes_ + 1;
  memory_ = AlignedMemory(copies_ * copy_bytes_);
  Fill(sample);
}

void Operands::Fill(const Problem& sample) {
  const Args from = sample.MakeArgs();
  for (size_t i = 0; i < addnorm_test::kY; ++i) {
    const Place& place = places_[i];
    if (!place.present) continue;
    const Operand operand = static_cast<Operand>(i);
    const char* const rows = static_cast<const char*>(from.Get(*from.op().Find(OperandName(operand))).data);
    const int64_t count = place.shape == Shape::kVector ? 1 : rows_;
    for (int64_t row = 0; row < count; row += kSampleRows) {
      const size_t bytes = place.row_bytes * static_cast<size_t>(std::min(kSampleRows, count - row));
      std::memcpy(memory_.data() + place.offset + place.row_bytes * static_cast<size_t>(row), rows, bytes);
    }
  }
  for (size_t copy = 1; copy < copies_; ++copy) {
    std::memcpy(memory_.data() + copy * copy_bytes_, memory_.data(), copy_bytes_);
  }
}

char* Operands::Data(Operand operand, const Part& part) const {
  const Place& place = places_[operand];
  if (!place.present) return nullptr;
  const size_t row = place.shape == Shape::kVector ? 0 : static_cast<size_t>(part.first_row);
  return memory_.data() + part.copy * copy_bytes_ + place.offset + row * place.row_bytes;
}

Args Operands::MakeArgs(const Part& part) const {
  Args args = args_;
  args.set_rows(part.rows);
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].present) continue;
    const Operand operand = static_cast<Operand>(i);
    const addnorm_test::OperandField& field = *op_case().fields->Find(OperandName(operand));
    addnorm_output place = args.Get(field);
    place.data = Data(operand, part);
    args.Set(field, place);
  }
  return args;
}

Part Operands::Share(size_t copy, int part, int parts) const {
  const int64_t first = rows_ * part / parts;
  return {copy, first, rows_ * (part + 1) / parts - first};
}

}  // namespace addnorm_bench
