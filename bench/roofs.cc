// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "roofs.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "sweep.h"

namespace addnorm_bench {
namespace {

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
  for (int i = 0; i < 2; ++i) {
    const size_t row_bytes = operands.row_bytes * static_cast<size_t>(std::max(shape.outputs[i], 1));
    if (reinterpret_cast<uintptr_t>(operands.outputs[i]) % vector_bytes != 0 || row_bytes % vector_bytes != 0) {
      return false;
    }
  }
  return true;
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

// What takes which place in a sweep; of the forward operations and of their backward.
struct Places {
  const char* inputs[3];
  const char* vectors[2];
  const char* outputs[2];
  const char* sums[2];
};
constexpr Places kForward = {{"x", "residual", ""}, {"gamma", "beta"}, {"sum_out", "y"}, {"", ""}};
constexpr Places kBackward = {{"dy", "x", "d_sum"}, {"gamma", ""}, {"d_residual", "dx"}, {"dgamma", "dbeta"}};

}  // namespace

const char* RoofName(RoofKind kind) {
  constexpr const char* kNames[kRoofs] = {"copy", "one_pass", "copy_streaming", "one_pass_streaming"};
  return kNames[kind];
}

Roofs::Roofs(const Operands& operands, Runner* runner) {
  const Places& places = operands.op_case().fields->is_backward() ? kBackward : kForward;
  size_t narrowest = sizeof(float);
  const auto narrow = [&](const char* operand) {
    if (operands.Has(operand)) narrowest = std::min(narrowest, operands.ElementSize(operand));
  };
  for (const char* const operand : places.inputs) narrow(operand);
  for (const char* const operand : places.vectors) narrow(operand);
  for (const char* const operand : places.outputs) narrow(operand);
  const auto width = [&](const char* operand) { return static_cast<int>(operands.ElementSize(operand) / narrowest); };
  SweepShape shape = {};
  std::transform(std::begin(places.inputs), std::end(places.inputs), shape.inputs, width);
  std::transform(std::begin(places.outputs), std::end(places.outputs), shape.outputs, width);
  for (const char* const operand : places.vectors) shape.vectors += operands.Has(operand);
  const auto work = std::make_shared<Work>();
  work->threads = static_cast<size_t>(runner->threads());
  for (size_t copy = 0; copy < operands.copies(); ++copy) {
    for (int part = 0; part < runner->threads(); ++part) {
      const Part share = operands.Share(copy, part, runner->threads());
      const auto data = [&](const char* operand) { return operands.Data(operand, share); };
      SweepOperands at = {};
      std::transform(std::begin(places.inputs), std::end(places.inputs), at.inputs, data);
      std::transform(std::begin(places.vectors), std::end(places.vectors), at.vectors, data);
      std::transform(std::begin(places.outputs), std::end(places.outputs), at.outputs, data);
      std::transform(std::begin(places.sums), std::end(places.sums), at.sums, data);
      at.rows = static_cast<size_t>(share.rows);
      at.row_bytes = static_cast<size_t>(operands.cols()) * narrowest;
      at.sum_bytes = static_cast<size_t>(operands.cols()) * operands.ElementSize(places.sums[0]);
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
  if (shape.outputs[0] + shape.outputs[1] > 0) ways_[kOnePassStreaming] = CandidatesFor(shape, true, work, runner);
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
    copy.inputs[0] = from;
    copy.outputs[1] = from + (halves - 1) * stride;
    copy.rows = 1;
    copy.row_bytes = share;
    work->operands.push_back(copy);
  }
  const SweepShape shape = {{1, 0, 0}, 0, {0, 1}};
  ways_[kCopy] = CandidatesFor(shape, false, work, runner);
  // The last few bytes that fill no vector would only be in the way.
  const auto whole = std::make_shared<Work>(*work);
  for (SweepOperands& copy : whole->operands) copy.row_bytes = stride;
  ways_[kCopyStreaming] = CandidatesFor(shape, true, whole, runner);
  if (operands.in_place()) return;
  ways_[kCopy].push_back({"memcpy", [work, share, runner](long times) {
                            runner->Repeat(times, [&](size_t copy, int part) {
                              const SweepOperands& at = work->At(copy, part);
                              std::memcpy(at.outputs[1], at.inputs[0], share);
                              __asm__ volatile("" : : "r"(at.outputs[1]) : "memory");  // the copy is looked at
                            });
                          }});
}

}  // namespace addnorm_bench
