// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "competition.h"

#include <addnorm/addnorm.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "peers/check.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Args;

constexpr int kMinRounds = 5;
constexpr int kMaxRounds = 2000;
// A kernel so many times slower than the first, as the scalar reference is, leaves after a few rounds: it would take up
// the time of the others.
constexpr double kFarSlower = 8;
constexpr int kRoundsOfFarSlower = 3;
// With more than this no cache holds what a call leaves there: nothing needs to be brought back before it is timed.
constexpr size_t kBeyondCaches = size_t{128} << 20;
constexpr long kSettlingCalls = 8;
// More copies of a cold case than peers are prepared for.
constexpr size_t kMaxPreparedCopies = 4096;

void SetTarget(const std::string& target) {
  if (target == addnorm_target_name()) return;  // choosing asks the CPU, which takes long in a virtual machine
  const addnorm_status status = addnorm_set_max_target(target.c_str());
  if (status == ADDNORM_OK && target == addnorm_target_name()) return;
  std::fprintf(stderr, "target %s cannot be used: %s\n", target.c_str(), addnorm_status_text(status));
  std::abort();
}

void Call(const Args& args) {
  const addnorm_status status = args.Call();
  if (status == ADDNORM_OK) return;
  std::fprintf(stderr, "%s: %s\n", args.op().name, addnorm_status_text(status));
  std::abort();
}

// One after another for each copy, for each thread.
template <class T, class Make>
std::vector<T> ForEachPart(const Operands& operands, int threads, const Make& make) {
  std::vector<T> all;
  for (size_t copy = 0; copy < operands.copies(); ++copy) {
    for (int part = 0; part < threads; ++part) all.push_back(make(operands.Share(copy, part, threads)));
  }
  return all;
}

}  // namespace

Competition::Competition(const BenchCase& bench_case, const Contest& contest) : operands_(new Operands(bench_case)) {
  hot_ = !bench_case.cold && operands_->bytes() < kBeyondCaches;
  runner_.reset(new Runner(operands_->copies(), bench_case.threads));
  for (const std::string& target : contest.targets) AddKernel(target, *operands_, "");
  const bool drops_out = bench_case.options.dropout.present();
  if (bench_case.data != addnorm_test::DataKind::kNormal || drops_out) {
    BenchCase plain = bench_case;
    plain.data = addnorm_test::DataKind::kNormal;
    plain.options.dropout = addnorm_test::DropoutOptions();
    plain_operands_.reset(new Operands(plain));
    for (const std::string& target : contest.targets) {
      AddKernel(target, *plain_operands_, drops_out ? "no dropout" : DataKindName(plain.data));
    }
  }
  if (contest.peers) AddPeers(bench_case);
  roof_ways_.reset(new Roofs(*operands_, runner_.get()));
  for (int kind = 0; kind < kRoofs; ++kind) roofs_.emplace_back(roof_ways_->ways(static_cast<RoofKind>(kind)), hot_);
}

Competition::~Competition() { addnorm_set_max_target(nullptr); }

void Competition::AddKernel(const std::string& target, const Operands& operands, const std::string& data) {
  const int threads = runner_->threads();
  const std::vector<Args> calls =
      ForEachPart<Args>(operands, threads, [&](const Part& part) { return operands.MakeArgs(part); });
  const Candidate kernel = {target,
                            [calls, threads, runner = runner_.get()](long times) {
                              runner->Repeat(times, [&](size_t copy, int part) {
                                Call(calls[copy * static_cast<size_t>(threads) + static_cast<size_t>(part)]);
                              });
                            },
                            [target] { SetTarget(target); }};
  entries_.push_back({{"addnorm", target, data, {}}, Contestant({kernel}, hot_)});
}

void Competition::AddPeers(const BenchCase& bench_case) {
  if (!NotForPeers(bench_case).empty() || operands_->copies() > kMaxPreparedCopies) return;
  for (const Peer& peer : AllPeers()) {
    const std::string wrong = CheckPeer(bench_case, peer);
    if (!wrong.empty()) {
      wrong_.push_back(peer.name + ", " + wrong);
      continue;
    }
    using Ways = std::vector<Peer::Way>;
    const std::vector<Ways> copies =
        ForEachPart<Ways>(*operands_, 1, [&](const Part& part) { return PreparePeer(peer, *operands_, part); });
    std::vector<Candidate> candidates;
    for (size_t way = 0; way < copies[0].size(); ++way) {
      std::vector<std::function<void()>> calls;
      for (const Ways& ways : copies) calls.push_back(ways[way].make);
      candidates.push_back({copies[0][way].name, [calls, runner = runner_.get()](long times) {
                              runner->Repeat(times, [&](size_t copy, int) { calls[copy](); });
                            }});
    }
    if (candidates.empty()) continue;
    entries_.push_back({{peer.name, "", "", {}}, Contestant(std::move(candidates), hot_)});
  }
}

void Competition::Qualify() {
  for (Entry& entry : entries_) entry.contestant.Qualify();
  for (Contestant& roof : roofs_) roof.Qualify();
}

double Competition::Round() {
  double first = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Contestant& contestant = entries_[i].contestant;
    if (rounds_ >= kRoundsOfFarSlower && contestant.best_ns() > kFarSlower * FirstNs()) continue;
    // Streaming stores, the last of the round before, leave outputs in no cache; operands of other data were not used
    // last. It takes a few calls until what a call leaves there is what the next one finds: without them the contestant
    // would be up to half slower.
    const bool is_first_on_its_operands = i == 0 || entries_[i].who.data != entries_[i - 1].who.data;
    if (hot_ && is_first_on_its_operands) contestant.Settle(kSettlingCalls);
    const double ns = contestant.Round();
    if (i == 0) first = ns;
  }
  for (Contestant& roof : roofs_) {
    if (!roof.empty()) roof.Round();
  }
  ++rounds_;
  return first;
}

void Competition::Run(double budget_ms) {
  using Clock = std::chrono::steady_clock;
  Qualify();
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(static_cast<long>(budget_ms * 1e3));
  while (rounds_ < kMaxRounds && (rounds_ < kMinRounds || Clock::now() < end)) Round();
}

std::vector<Result> Competition::results() const {
  std::vector<Result> results;
  for (const Entry& entry : entries_) {
    results.push_back(entry.who);
    results.back().timing = entry.contestant.timing();
  }
  return results;
}

}  // namespace addnorm_bench
