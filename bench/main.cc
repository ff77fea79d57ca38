// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm_bench: each operation, dtype and shape on each target, as a multiple of what memory allows.
#include <addnorm/addnorm.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

#include "cases.h"
#include "competition.h"
#include "measure.h"
#include "support/targets.h"

namespace addnorm_bench {
namespace {

constexpr char kUsage[] =
    "Usage: addnorm_bench [--target=NAME]... [--table [--floors]] [--filter=REGEX] [--ms=N] [--cpu=N]\n"
    "                     [--benchmark_...]\n"
    "\n"
    "Times each operation as a multiple of a copy of the same bytes, and of one sweep over the same operands that "
    "reduces\n"
    "nothing, measured in turns with the kernel.\n"
    "\n"
    "  --target=NAME   only this target; may be given several times; default: all that the CPU supports\n"
    "  --table         print one Markdown table instead of running Google Benchmark\n"
    "  --floors        fail if the best target is slower than it must be: norms of f32 within 1.3 of one pass at "
    "512x4096,\n"
    "                  within 2 at 32x4096 and 128x768\n"
    "  --filter=REGEX  only cases whose name, as in add_rms_norm/f32+f32>f32>f32/32x4096, contains a match\n"
    "  --ms=N          how long the rounds of one case go on (default 200)\n"
    "  --cpu=N         the core to run on; default: the one it started on\n"
    "\n"
    "Further options are Google Benchmark's; see --benchmark_help.\n";

struct CommandLine {
  std::vector<std::string> targets;
  std::string filter;
  double budget_ms = 200;
  int cpu = -1;
  bool table = false;
  bool floors = false;
};

// Google Benchmark counts one round as an iteration, with the time of one call.
constexpr int kRounds = 50;

void RunBenchmark(benchmark::State& state, const BenchCase& bench_case, const std::string& target) {
  Competition competition(bench_case, {target});
  competition.Qualify();
  for (auto _ : state) state.SetIterationTime(competition.Round() * 1e-9);
  const double ns = competition.KernelNs(0);
  state.SetBytesProcessed(static_cast<int64_t>(competition.bytes()) * state.iterations());
  state.SetItemsProcessed(bench_case.shape.rows * bench_case.shape.cols * state.iterations());
  state.counters["min_ns"] = ns;
  state.counters["x_copy"] = ns / competition.copy().best_ns();
  state.counters["x_one_pass"] = ns / competition.one_pass().best_ns();
  state.SetLabel("one pass: " + competition.one_pass().best_name());
}

// Returns whether the floors, if asked for, are kept.
bool PrintTable(const std::vector<BenchCase>& cases, const CommandLine& options) {
  std::vector<std::string> too_slow;
  std::printf("| %-15s | %-19s | %-8s | %-7s | %9s | %6s | %6s | %10s |\n", "op", "dtypes", "shape", "target", "ns",
              "GB/s", "x copy", "x one-pass");
  std::printf("|%s|%s|%s|%s|%s:|%s:|%s:|%s:|\n", std::string(17, '-').c_str(), std::string(21, '-').c_str(),
              std::string(10, '-').c_str(), std::string(9, '-').c_str(), std::string(10, '-').c_str(),
              std::string(7, '-').c_str(), std::string(7, '-').c_str(), std::string(11, '-').c_str());
  for (const BenchCase& c : cases) {
    Competition competition(c, options.targets);
    competition.Run(options.budget_ms);
    for (size_t t = 0; t < options.targets.size(); ++t) {
      const double ns = competition.KernelNs(t);
      std::printf("| %-15s | %-19s | %-8s | %-7s | %9.0f | %6.1f | %6.2f | %10.2f |\n", c.OpName().c_str(),
                  c.DtypesName().c_str(), c.ShapeName().c_str(), options.targets[t].c_str(), ns,
                  static_cast<double>(competition.bytes()) / ns, ns / competition.copy().best_ns(),
                  ns / competition.one_pass().best_ns());
    }
    std::fflush(stdout);
    if (competition.KernelNs(0) > c.Floor() * competition.one_pass().best_ns()) too_slow.push_back(c.Name());
  }
  if (!options.floors) return true;
  for (const std::string& name : too_slow) std::fprintf(stderr, "slower than it must be: %s\n", name.c_str());
  return too_slow.empty();
}

bool TakeValue(const char* argument, const char* option, std::string* value) {
  const size_t length = std::strlen(option);
  if (std::strncmp(argument, option, length) != 0) return false;
  *value = argument + length;
  return true;
}

[[noreturn]] void Refuse(const std::string& fault) {
  std::fprintf(stderr, "addnorm_bench: %s\nTry addnorm_bench --help\n", fault.c_str());
  std::exit(2);
}

double ParseNumber(const std::string& text, const char* option, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least) || !(value <= 1e6))
    Refuse(option + text + ": not a sensible number");
  return value;
}

// Takes our own options out of argv and leaves the others.
CommandLine ParseOwnOptions(int* argc, char** argv) {
  CommandLine options;
  int kept = std::min(*argc, 1);
  for (int i = 1; i < *argc; ++i) {
    std::string value;
    if (TakeValue(argv[i], "--target=", &value)) {
      const std::vector<std::string>& supported = addnorm_test::SupportedTargets();
      if (std::find(supported.begin(), supported.end(), value) == supported.end()) {
        std::string known;
        for (const std::string& name : supported) known += " " + name;
        Refuse("target " + value + " is not one of this CPU's:" + known);
      }
      options.targets.push_back(value);
    } else if (TakeValue(argv[i], "--filter=", &value)) {
      options.filter = value;
    } else if (TakeValue(argv[i], "--ms=", &value)) {
      options.budget_ms = ParseNumber(value, "--ms=", 0);
    } else if (TakeValue(argv[i], "--cpu=", &value)) {
      options.cpu = static_cast<int>(ParseNumber(value, "--cpu=", 0));
    } else if (std::strcmp(argv[i], "--table") == 0) {
      options.table = true;
    } else if (std::strcmp(argv[i], "--floors") == 0) {
      options.floors = true;
    } else if (std::strcmp(argv[i], "--help") == 0) {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  if (options.targets.empty()) options.targets = addnorm_test::SupportedTargets();
  return options;
}

std::vector<BenchCase> FilteredCases(const std::string& filter) {
  std::vector<BenchCase> cases = AllBenchCases();
  try {
    const std::regex regex(filter);
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [&](const BenchCase& c) { return !std::regex_search(c.Name(), regex); }),
                cases.end());
  } catch (const std::regex_error&) {
    Refuse("--filter=" + filter + ": not a regular expression");
  }
  if (cases.empty()) Refuse("--filter=" + filter + ": no such case");
  return cases;
}

int Main(int argc, char** argv) {
  const CommandLine options = ParseOwnOptions(&argc, argv);
  const std::vector<BenchCase> cases = FilteredCases(options.filter);
  if (!PinToCore(options.cpu)) std::fprintf(stderr, "not pinned to a core: times will vary more\n");
  if (options.table) {
    if (argc > 1) Refuse(std::string("unknown option ") + argv[1]);
    return PrintTable(cases, options) ? 0 : 1;
  }
  if (options.floors) Refuse("--floors needs --table");
  for (const BenchCase& c : cases) {
    for (const std::string& target : options.targets) {
      benchmark::RegisterBenchmark((c.Name() + "/" + target).c_str(), RunBenchmark, c, target)
          ->Iterations(kRounds)
          ->UseManualTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace addnorm_bench

int main(int argc, char** argv) { return addnorm_bench::Main(argc, argv); }
