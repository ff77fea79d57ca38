// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "roofs.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "support/dtype.h"
#include "sweep.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Operand;

// A multiple of every vector's size.
constexpr size_t kBlock = 64;

std::vector<SweepList> SweepLists() {
  std::vector<SweepList> lists = {BaseSweeps()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) lists.push_back(Avx2Sweeps());
  if (__builtin_cpu_supports("avx512f")) lists.push_back(Avx512Sweeps());
#endif
  return lists;
}

// What to sweep over, by copy and by thread.
struct Work {
  std::vector<SweepOperands> operands;
  size_t threads = 1;
  const SweepOperands& At(size_t copy, int part) const { return operands[copy * threads + static_cast<size_t>(part)]; }
};

bool IsAligned(const SweepShape& shape, const SweepOperands& operands, size_t vector_bytes) {
  return reinterpret_cast<uintptr_t>(operands.sum) % vector_bytes == 0 &&
         reinterpret_cast<uintptr_t>(operands.y) % vector_bytes == 0 &&
         operands.row_bytes * static_cast<size_t>(std::max(shape.sum, 1)) % vector_bytes == 0 &&
         operands.row_bytes * static_cast<size_t>(std::max(shape.y, 1)) % vector_bytes == 0;
}

std::vector<Candidate> CandidatesFor(const SweepShape& shape, bool streaming, const std::shared_ptr<const Work>& work,
                                     Runner* runner) {
  std::vector<Candidate> candidates;
  for (const SweepList& list : SweepLists()) {
    const bool aligned = std::all_of(work->operands.begin(), work->operands.end(), [&](const SweepOperands& operands) {
      return IsAligned(shape, operands, list.vector_bytes);
    });
    if (streaming && !aligned) continue;
    for (int i = 0; i < list.count; ++i) {
      if (!(list.sweeps[i].shape == shape)) continue;
      for (int l = 0; l < kSweepLoops; ++l) {
        const SweepLoop& loop = list.sweeps[i].loops[l];
        if (loop.streaming != streaming || loop.run == nullptr) continue;
        candidates.push_back(
            {std::string(list.name) + " x" + std::to_string(loop.unroll), [run = loop.run, work, runner](long times) {
               runner->Repeat(times, [&](size_t copy, int part) { run(work->At(copy, part)); });
             }});
      }
    }
  }
  return candidates;
}

size_t SizeOf(const Operands& operands, Operand operand) {
  return operands.Has(operand) ? addnorm_test::DtypeSize(operands.Dtype(operand)) : 0;
}

}  // namespace

const char* RoofName(RoofKind kind) {
  constexpr const char* kNames[kRoofs] = {"copy", "one_pass", "copy_streaming", "one_pass_streaming"};
  return kNames[kind];
}

Roofs::Roofs(const Operands& operands, Runner* runner) {
  size_t narrowest = sizeof(float);
  for (const Operand operand : {addnorm_test::kX, addnorm_test::kResidual, addnorm_test::kGamma, addnorm_test::kBeta,
                                addnorm_test::kSumOut, addnorm_test::kY}) {
    if (operands.Has(operand)) narrowest = std::min(narrowest, SizeOf(operands, operand));
  }
  const auto width = [&](Operand operand) { return static_cast<int>(SizeOf(operands, operand) / narrowest); };
  const SweepShape shape = {width(addnorm_test::kX), width(addnorm_test::kResidual),
                            operands.Has(addnorm_test::kGamma) + operands.Has(addnorm_test::kBeta),
                            width(addnorm_test::kSumOut), width(addnorm_test::kY)};
  const auto work = std::make_shared<Work>();
  work->threads = static_cast<size_t>(runner->threads());
  for (size_t copy = 0; copy < operands.copies(); ++copy) {
    for (int part = 0; part < runner->threads(); ++part) {
      const Part share = operands.Share(copy, part, runner->threads());
      SweepOperands at = {operands.Data(addnorm_test::kX, share),
                          operands.Data(addnorm_test::kResidual, share),
                          {operands.Data(addnorm_test::kGamma, share), operands.Data(addnorm_test::kBeta, share)},
                          operands.Data(addnorm_test::kSumOut, share),
                          operands.Data(addnorm_test::kY, share),
                          static_cast<size_t>(share.rows),
                          static_cast<size_t>(operands.cols()) * narrowest};
      if (shape.vectors == 0) {  // nothing tells the rows apart
        at.row_bytes *= at.rows;
        at.rows = 1;
      }
      work->operands.push_back(at);
    }
  }
  ways_[kOnePass] = CandidatesFor(shape, false, work, runner);
  if (ways_[kOnePass].empty()) {
    std::fprintf(stderr, "%s: no sweep for these operands\n", operands.op_case().name.c_str());
    std::abort();
  }
  if (shape.sum + shape.y > 0) ways_[kOnePassStreaming] = CandidatesFor(shape, true, work, runner);
  AddCopies(operands, runner);
}

void Roofs::AddCopies(const Operands& operands, Runner* runner) {
  const size_t threads = static_cast<size_t>(runner->threads());
  const size_t share = operands.bytes() / 2 / threads;
  const size_t stride = (share + kBlock - 1) / kBlock * kBlock;
  // In place, the copy's two halves are one.
  const size_t halves = operands.in_place() ? 1 : 2;
  memory_ = AlignedMemory(operands.copies() * threads * halves * stride);
  const auto work = std::make_shared<Work>();
  work->threads = threads;
  for (size_t i = 0; i < operands.copies() * threads; ++i) {
    SweepOperands copy = {};
    char* const from = memory_.data() + i * halves * stride;
    copy.x = from;
    copy.y = from + (halves - 1) * stride;
    copy.rows = 1;
    copy.row_bytes = share;
    work->operands.push_back(copy);
  }
  const SweepShape shape = {1, 0, 0, 0, 1};
  ways_[kCopy] = CandidatesFor(shape, false, work, runner);
  // The last few bytes that fill no vector would only be in the way.
  const auto whole = std::make_shared<Work>(*work);
  for (SweepOperands& copy : whole->operands) copy.row_bytes = stride;
  ways_[kCopyStreaming] = CandidatesFor(shape, true, whole, runner);
  if (operands.in_place()) return;
  ways_[kCopy].push_back({"memcpy", [work, share, runner](long times) {
                            runner->Repeat(times, [&](size_t copy, int part) {
                              const SweepOperands& at = work->At(copy, part);
                              std::memcpy(at.y, at.x, share);
                              __asm__ volatile("" : : "r"(at.y) : "memory");  // the copy is looked at
                            });
                          }});
}

}  // namespace addnorm_bench
