// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "roofs.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/dtype.h"
#include "sweep.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Args;
using addnorm_test::DtypeSize;
using addnorm_test::Operand;
using addnorm_test::Problem;

std::vector<SweepList> SweepLists() {
  std::vector<SweepList> lists = {BaseSweeps()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) lists.push_back(Avx2Sweeps());
  if (__builtin_cpu_supports("avx512f")) lists.push_back(Avx512Sweeps());
#endif
  return lists;
}

std::vector<Candidate> CandidatesFor(const SweepShape& shape, const SweepOperands& operands) {
  std::vector<Candidate> candidates;
  for (const SweepList& list : SweepLists()) {
    for (int i = 0; i < list.count; ++i) {
      const Sweep& sweep = list.sweeps[i];
      if (!(sweep.shape == shape)) continue;
      candidates.push_back(
          {std::string(list.name) + " x" + std::to_string(sweep.unroll), [run = sweep.run, operands](long times) {
             for (long t = 0; t < times; ++t) run(operands);
           }});
    }
  }
  return candidates;
}

char* DataOf(const Problem& problem, const Args& args, Operand operand) {
  if (!problem.Has(operand)) return nullptr;
  return static_cast<char*>(args.Get(*args.op().Find(addnorm_test::OperandName(operand))).data);
}

size_t SizeOf(const Problem& problem, Operand operand) {
  return problem.Has(operand) ? DtypeSize(problem.Dtype(operand)) : 0;
}

}  // namespace

Roofs::Roofs(const Problem& problem, const Args& args) {
  size_t narrowest = sizeof(float);
  for (const Operand operand : {addnorm_test::kX, addnorm_test::kResidual, addnorm_test::kGamma, addnorm_test::kBeta,
                                addnorm_test::kSumOut, addnorm_test::kY}) {
    if (problem.Has(operand)) narrowest = std::min(narrowest, SizeOf(problem, operand));
  }
  const auto width = [&](Operand operand) { return static_cast<int>(SizeOf(problem, operand) / narrowest); };
  SweepShape shape = {width(addnorm_test::kX), width(addnorm_test::kResidual),
                      problem.Has(addnorm_test::kGamma) + problem.Has(addnorm_test::kBeta),
                      width(addnorm_test::kSumOut), width(addnorm_test::kY)};
  SweepOperands operands = {DataOf(problem, args, addnorm_test::kX),
                            DataOf(problem, args, addnorm_test::kResidual),
                            {DataOf(problem, args, addnorm_test::kGamma), DataOf(problem, args, addnorm_test::kBeta)},
                            DataOf(problem, args, addnorm_test::kSumOut),
                            DataOf(problem, args, addnorm_test::kY),
                            static_cast<size_t>(problem.rows()),
                            static_cast<size_t>(problem.cols()) * narrowest};
  const size_t matrix_width = static_cast<size_t>(shape.x + shape.residual + shape.sum + shape.y);
  bytes_ = (matrix_width * operands.rows + static_cast<size_t>(shape.vectors)) * operands.row_bytes;
  if (shape.vectors == 0) {  // nothing tells the rows apart
    operands.row_bytes *= operands.rows;
    operands.rows = 1;
  }
  one_passes_ = CandidatesFor(shape, operands);
  if (one_passes_.empty()) {
    std::fprintf(stderr, "%s: no sweep for these operands\n", problem.op_case().name.c_str());
    std::abort();
  }
  AddCopies();
}

void Roofs::AddCopies() {
  constexpr size_t kAlignment = 64;
  const size_t half = bytes_ / 2;
  const size_t stride = (half + kAlignment) / kAlignment * kAlignment;
  memory_.reset(new char[2 * stride + kAlignment]());
  const uintptr_t misaligned = reinterpret_cast<uintptr_t>(memory_.get()) % kAlignment;
  char* const from = memory_.get() + (kAlignment - misaligned) % kAlignment;
  char* const to = from + stride;
  SweepOperands copy = {};
  copy.x = from;
  copy.y = to;
  copy.rows = 1;
  copy.row_bytes = half;
  copies_ = CandidatesFor({1, 0, 0, 0, 1}, copy);
  copies_.push_back({"memcpy", [from, to, half](long times) {
                       for (long t = 0; t < times; ++t) {
                         std::memcpy(to, from, half);
                         __asm__ volatile("" : : "r"(to) : "memory");  // the copy is looked at
                       }
                     }});
}

}  // namespace addnorm_bench
