// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "competition.h"

#include <addnorm/addnorm.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "roofs.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Args;
using addnorm_test::Problem;

constexpr uint64_t kSeed = 1;
constexpr int kMinRounds = 5;
constexpr int kMaxRounds = 2000;
// A kernel so many times slower than the first, as the scalar reference is, leaves after a few rounds: it would take up
// the time of the others.
constexpr double kFarSlower = 8;
constexpr int kRoundsOfFarSlower = 3;

void SetTarget(const std::string& target) {
  if (target == addnorm_target_name()) return;  // choosing asks the CPU, which takes long in a virtual machine
  const addnorm_status status = addnorm_set_max_target(target.c_str());
  if (status == ADDNORM_OK && target == addnorm_target_name()) return;
  std::fprintf(stderr, "target %s cannot be used: %s\n", target.c_str(), addnorm_status_text(status));
  std::abort();
}

void CallOften(const Args& args, long times) {
  for (long t = 0; t < times; ++t) {
    const addnorm_status status = args.Call();
    if (status == ADDNORM_OK) continue;
    std::fprintf(stderr, "%s: %s\n", args.op().name, addnorm_status_text(status));
    std::abort();
  }
}

}  // namespace

struct Competition::Operands {
  explicit Operands(const BenchCase& c)
      : problem(*c.op_case, ModelOptions(*c.op_case), c.shape.rows, c.shape.cols),
        args(Filled()),
        roofs(problem, args) {}

  Args Filled() {
    problem.Fill(addnorm_test::DataKind::kNormal, kSeed);
    problem.Reset();
    return problem.MakeArgs();
  }

  Problem problem;
  Args args;
  Roofs roofs;
};

Competition::Competition(const BenchCase& bench_case, const std::vector<std::string>& targets)
    : operands_(new Operands(bench_case)), bytes_(operands_->roofs.bytes()) {
  const Args& args = operands_->args;
  for (const std::string& target : targets) {
    const Candidate kernel = {target, [&args](long times) { CallOften(args, times); }, [target] { SetTarget(target); }};
    kernels_.emplace_back(std::vector<Candidate>{kernel});
  }
  roofs_.emplace_back(operands_->roofs.copies());
  roofs_.emplace_back(operands_->roofs.one_passes());
}

Competition::~Competition() { addnorm_set_max_target(nullptr); }

void Competition::Qualify() {
  for (Contestant& roof : roofs_) roof.Qualify();
}

double Competition::Round() {
  double first = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (rounds_ >= kRoundsOfFarSlower && KernelNs(i) > kFarSlower * KernelNs(0)) continue;
    const double ns = kernels_[i].Round();
    if (i == 0) first = ns;
  }
  for (Contestant& roof : roofs_) roof.Round();
  ++rounds_;
  return first;
}

void Competition::Run(double budget_ms) {
  using Clock = std::chrono::steady_clock;
  Qualify();
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(static_cast<long>(budget_ms * 1e3));
  while (rounds_ < kMaxRounds && (rounds_ < kMinRounds || Clock::now() < end)) Round();
}

}  // namespace addnorm_bench
