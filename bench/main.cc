// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm_bench: each operation, dtype and shape on each target, as a multiple of what memory allows.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "competition.h"
#include "measure.h"
#include "options.h"
#include "output.h"

namespace addnorm_bench {
namespace {

// Google Benchmark counts one round as an iteration, with the time of one call.
constexpr int kRounds = 50;

void RunBenchmark(benchmark::State& state, const BenchCase& bench_case, const std::string& target) {
  Contest contest;
  contest.targets = {target};
  contest.peers = false;
  Competition competition(bench_case, contest);
  competition.Qualify();
  for (auto _ : state) state.SetIterationTime(competition.Round() * 1e-9);
  const double ns = competition.FirstNs();
  state.SetBytesProcessed(static_cast<int64_t>(competition.bytes()) * state.iterations());
  state.SetItemsProcessed(bench_case.shape.rows * bench_case.shape.cols * state.iterations());
  state.counters["min_ns"] = ns;
  for (const RoofKind kind : {kCopy, kOnePass, kCopyStreaming, kOnePassStreaming}) {
    const Contestant& roof = competition.roof(kind);
    if (!roof.empty()) state.counters[std::string("x_") + RoofName(kind)] = ns / roof.best_ns();
  }
  state.SetLabel("one pass: " + competition.roof(kOnePass).best_name());
}

int RunGoogleBenchmark(const CommandLine& options, int argc, char** argv) {
  for (const SuiteCases& suite : SelectedCases(options)) {
    for (const BenchCase& c : suite.cases) {
      for (const std::string& target : options.contest.targets) {
        benchmark::RegisterBenchmark((c.Name() + "/" + target).c_str(), RunBenchmark, c, target)
            ->Iterations(kRounds)
            ->UseManualTime();
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

// The cases in their order, to the outputs that were asked for.
int RunSuites(const CommandLine& options) {
  std::vector<std::string> too_slow;
  bool all_right = true;
  Json json(options);
  if (options.table) PrintTableHead();
  for (const SuiteCases& suite : SelectedCases(options)) {
    for (const BenchCase& c : suite.cases) {
      Competition competition(c, options.contest);
      competition.Run(options.budget_ms);
      if (options.table) {
        PrintTableRows(c, competition);
      } else {
        std::fprintf(stderr, "%s: %s\n", suite.suite.c_str(), c.Name().c_str());
      }
      json.Add(suite.suite, c, competition);
      if (competition.FirstNs() > c.Floor() * competition.roof(kOnePass).best_ns()) too_slow.push_back(c.Name());
      for (const std::string& wrong : competition.wrong()) {
        std::fprintf(stderr, "%s: a peer's answer is wrong: %s\n", c.Name().c_str(), wrong.c_str());
        all_right = false;
      }
    }
  }
  if (!options.json.empty() && !json.Write()) {
    std::fprintf(stderr, "%s cannot be written\n", options.json.c_str());
    return 1;
  }
  if (!options.floors) return all_right ? 0 : 1;
  for (const std::string& name : too_slow) std::fprintf(stderr, "slower than it must be: %s\n", name.c_str());
  return all_right && too_slow.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  const CommandLine options = ParseOwnOptions(&argc, argv);
  if (!PinToCore(options.cpu < 0 ? CurrentCore() : options.cpu)) {
    std::fprintf(stderr, "not pinned to a core: times will vary more\n");
  }
  if (!options.table && options.json.empty()) return RunGoogleBenchmark(options, argc, argv);
  if (argc > 1) Refuse(std::string("unknown option ") + argv[1]);
  return RunSuites(options);
}

}  // namespace
}  // namespace addnorm_bench

int main(int argc, char** argv) { return addnorm_bench::Main(argc, argv); }
