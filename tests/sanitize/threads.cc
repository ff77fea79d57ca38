// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What threads may do with addnorm, for ThreadSanitizer: the first calls of the process at once, rows of one call split
// between them by the caller and by the library, and a change of the target all the while. The bits have to be those of
// one thread, too.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/backward.h"
#include "support/dtype.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

constexpr int kThreads = 8;

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// Runs work(0) ... work(kThreads - 1), all of them at the same time.
void AtOnce(const std::function<void(int)>& work) {
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&work, &waiting, t] {
      ++waiting;
      while (waiting < kThreads) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Reads what others may call at the same time.
void AskEverything() {
  const char* names[8];
  Require(addnorm_supported_targets(names, 8) >= 1, "no target is supported");
  Require(addnorm_target_name() != nullptr, "the target has no name");
  Require(addnorm_environment_status() == ADDNORM_OK, "ADDNORM_MAX_TARGET is wrong");
}

std::vector<Problem> AnyProblems(int64_t rows, int64_t cols) {
  std::vector<Problem> problems;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    problems.emplace_back(op_case, options[problems.size() % options.size()], rows, cols);
    problems.back().FillByKind(problems.size());
    problems.back().Reset();
  }
  return problems;
}

// The problems are made without any call, so that the first of the process are these.
void FirstCalls() {
  std::vector<std::vector<Problem>> problems;
  for (int t = 0; t < kThreads; ++t) problems.push_back(AnyProblems(3, 70));
  AtOnce([&](int t) {
    const size_t first = static_cast<size_t>(t) * 5 % problems[0].size();  // each another operation
    Require(problems[static_cast<size_t>(t)][first].MakeArgs().Call() == ADDNORM_OK, "a first call failed");
    AskEverything();
    for (Problem& problem : problems[static_cast<size_t>(t)]) Require(problem.Run() == ADDNORM_OK, "a call failed");
  });
  for (size_t i = 0; i < problems[0].size(); ++i) {
    for (const auto& each : problems) {
      Require(each[i].Outputs() == problems[0][i].Outputs(), "the bits of first calls differ between threads");
    }
  }
}

// Rows of each call split between threads; `meanwhile` runs in one more until they are done.
void SplitRows(const std::function<void()>& meanwhile) {
  std::vector<Problem> problems = AnyProblems(21, 35);
  std::vector<std::string> wanted;
  for (Problem& problem : problems) {
    Require(problem.Run() == ADDNORM_OK, "a call failed");
    wanted.push_back(problem.Outputs());
    problem.Reset();
  }
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) meanwhile();
  });
  AtOnce([&](int t) {
    for (const Problem& problem : problems) {
      const int64_t first = problem.rows() * t / kThreads, end = problem.rows() * (t + 1) / kThreads;
      Args args = problem.MakeArgs();
      args.set_rows(end - first);
      for (const OperandField& field : args.op().operands) {
        addnorm_output operand = args.Get(field);
        if (operand.data == nullptr) continue;
        operand.data = static_cast<char*>(operand.data) +
                       static_cast<size_t>(first * operand.row_stride) * DtypeSize(operand.dtype);
        args.Set(field, operand);
      }
      Require(args.Call() == ADDNORM_OK, "a call of some rows failed");
    }
  });
  stop = true;
  other.join();
  for (size_t i = 0; i < problems.size(); ++i) {
    Require(problems[i].Outputs() == wanted[i], "the bits of split rows differ from those of one call");
  }
}

void ParallelFor(void*, int64_t count, addnorm_range_body body, void* task) {
  AtOnce([&](int t) { body(task, count * t / kThreads, count * (t + 1) / kThreads); });
}

// The call on threads of a problem, of either direction, gives the bits of the call on one.
template <class AnyProblem>
void RequireSameBitsOnThreads(AnyProblem& problem) {
  Require(problem.Run() == ADDNORM_OK, "a call failed");
  const std::string wanted = problem.Outputs();
  problem.Reset();
  Args args = problem.MakeArgs();
  args.set_parallel({&ParallelFor, nullptr});
  Require(args.Call() == ADDNORM_OK, "a call on threads failed");
  Require(problem.Outputs() == wanted, "the bits of a call on threads differ from those of one thread");
}

// Ranges of rows of one call, with dropout too, whose masks have bits of many columns in a byte.
void SplitForward() {
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    std::vector<Options> all = DropoutOptionsOf(op_case);
    const std::vector<Options> plain = OptionsOf(op_case);
    all.push_back(plain[next++ % plain.size()]);
    for (const Options& options : all) {
      Problem problem(op_case, options, 21, 35);
      problem.FillByKind(next);
      RequireSameBitsOnThreads(problem);
    }
  }
}

// Blocks of rows, whose sums share a workspace, then groups of columns, each on another thread.
void SplitBackward() {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    std::vector<BackwardOptions> all = BackwardDropoutOptionsOf(op_case);
    const std::vector<BackwardOptions> plain = BackwardOptionsOf(op_case);
    all.push_back(plain[next++ % plain.size()]);
    for (const BackwardOptions& options : all) {
      BackwardProblem problem(op_case, options, 300, 35);
      problem.FillByKind(next);
      RequireSameBitsOnThreads(problem);
    }
  }
}

}  // namespace
}  // namespace addnorm_test

int main() {
  using namespace addnorm_test;
  FirstCalls();
  SplitRows(AskEverything);
  size_t next = 0;
  SplitRows([&next] {
    const std::vector<std::string>& targets = SupportedTargets();
    addnorm_set_max_target(targets[next++ % targets.size()].c_str());
  });
  addnorm_set_max_target(nullptr);
  SplitForward();
  SplitBackward();
  std::puts("First calls, split rows and changes of the target: no difference between threads");
}
