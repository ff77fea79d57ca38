// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "peers/peer.h"
#include "suites.h"
#include "support/targets.h"

namespace addnorm_bench {
namespace {

constexpr char kUsage[] =
    "Usage: addnorm_bench [--suite=NAME]... [--filter=REGEX] [--target=NAME]... [--cold] [--in-place] [--streaming] "
    "[--no-peers]\n"
    "                     [--ms=N] [--cpu=N] [--table [--floors]] [--json=FILE [--commit=TEXT] [--machine=TEXT]]\n"
    "                     [--benchmark_...]\n"
    "\n"
    "Times each operation as a multiple of what memory allows: of a copy of the same bytes, and of one sweep over the\n"
    "same operands that reduces nothing, with ordinary and with streaming stores, all measured in turns.\n"
    "\n"
    "  --suite=NAME    which cases, see below; may be given several times; default: all\n"
    "  --filter=REGEX  only cases whose name, as in add_rms_norm/f32+f32>f32>f32/32x4096, contains a match\n"
    "  --target=NAME   only this target; may be given several times; default: the vector targets that the CPU "
    "supports\n"
    "  --cold          with no operand in a cache when a call begins\n"
    "  --in-place      with each output in the place of an input, where dtypes allow it\n"
    "  --streaming     with store = ADDNORM_STORE_STREAMING\n"
    "  --no-peers      without the plain loops and other libraries\n"
    "  --ms=N          how long the rounds of one case go on (default 200)\n"
    "  --cpu=N         the core to run on; default: the one it started on\n"
    "  --table         print one Markdown table instead of running Google Benchmark\n"
    "  --floors        fail if the best target is slower than it must be: norms of f32 within 1.3 of one pass at "
    "512x4096,\n"
    "                  within 2 at 32x4096 and 128x768\n"
    "  --json=FILE     write all that was measured, for bench/report; TEXT says which commit and machine it is of\n"
    "\n"
    "Further options are Google Benchmark's; see --benchmark_help.\n";

void PrintHelp() {
  std::fputs(kUsage, stdout);
  std::fputs("\nSuites:\n", stdout);
  for (const Suite& suite : AllSuites()) std::printf("  %-8s %s\n", suite.name, suite.shows);
  std::fputs("\nCompared with:\n", stdout);
  for (const Peer& peer : AllPeers()) std::printf("  %s %s\n", peer.name.c_str(), peer.version.c_str());
}

bool TakeValue(const char* argument, const char* option, std::string* value) {
  const size_t length = std::strlen(option);
  if (std::strncmp(argument, option, length) != 0) return false;
  *value = argument + length;
  return true;
}

double ParseNumber(const std::string& text, const char* option, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least) || !(value <= 1e6))
    Refuse(option + text + ": not a sensible number");
  return value;
}

std::string Known(const std::vector<std::string>& names) {
  std::string known;
  for (const std::string& name : names) known += " " + name;
  return known;
}

void AddTarget(const std::string& name, std::vector<std::string>* targets) {
  const std::vector<std::string>& supported = addnorm_test::SupportedTargets();
  if (std::find(supported.begin(), supported.end(), name) == supported.end())
    Refuse("target " + name + " is not one of this CPU's:" + Known(supported));
  targets->push_back(name);
}

void AddSuite(const std::string& name, std::vector<std::string>* suites) {
  std::vector<std::string> names;
  for (const Suite& suite : AllSuites()) names.push_back(suite.name);
  if (FindSuite(name) == nullptr) Refuse("suite " + name + " is none of:" + Known(names));
  suites->push_back(name);
}

// All but the scalar reference, where there are others.
std::vector<std::string> VectorTargets() {
  std::vector<std::string> targets = addnorm_test::SupportedTargets();
  if (targets.size() > 1) targets.erase(std::remove(targets.begin(), targets.end(), "scalar"), targets.end());
  return targets;
}

}  // namespace

void Refuse(const std::string& fault) {
  std::fprintf(stderr, "addnorm_bench: %s\nTry addnorm_bench --help\n", fault.c_str());
  std::exit(2);
}

CommandLine ParseOwnOptions(int* argc, char** argv) {
  CommandLine options;
  int kept = std::min(*argc, 1);
  for (int i = 1; i < *argc; ++i) {
    const std::string argument = argv[i];
    std::string value;
    if (TakeValue(argv[i], "--target=", &value)) {
      AddTarget(value, &options.contest.targets);
    } else if (TakeValue(argv[i], "--suite=", &value)) {
      AddSuite(value, &options.suites);
    } else if (TakeValue(argv[i], "--filter=", &options.filter) || TakeValue(argv[i], "--json=", &options.json) ||
               TakeValue(argv[i], "--commit=", &options.commit) || TakeValue(argv[i], "--machine=", &options.machine)) {
    } else if (TakeValue(argv[i], "--ms=", &value)) {
      options.budget_ms = ParseNumber(value, "--ms=", 0);
    } else if (TakeValue(argv[i], "--cpu=", &value)) {
      options.cpu = static_cast<int>(ParseNumber(value, "--cpu=", 0));
    } else if (argument == "--cold") {
      options.cold = true;
    } else if (argument == "--in-place") {
      options.in_place = true;
    } else if (argument == "--streaming") {
      options.streaming = true;
    } else if (argument == "--no-peers") {
      options.contest.peers = false;
    } else if (argument == "--table") {
      options.table = true;
    } else if (argument == "--floors") {
      options.floors = true;
    } else if (argument == "--help") {
      PrintHelp();
      std::exit(0);
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  if (options.contest.targets.empty()) options.contest.targets = VectorTargets();
  if (options.suites.empty()) options.suites = {"all"};
  if (options.floors && !options.table) Refuse("--floors needs --table");
  return options;
}

std::vector<SuiteCases> SelectedCases(const CommandLine& options) {
  std::vector<SuiteCases> selected;
  try {
    const std::regex regex(options.filter);
    for (const std::string& suite : options.suites) {
      SuiteCases cases = {suite, {}};
      for (BenchCase c : FindSuite(suite)->cases()) {
        c.cold = options.cold;
        c.in_place = options.in_place;
        c.streaming = options.streaming && c.op_case->fields->store != 0;
        if (c.in_place && !c.CanBeInPlace()) continue;
        if (std::regex_search(c.Name(), regex)) cases.cases.push_back(c);
      }
      if (!cases.cases.empty()) selected.push_back(cases);
    }
  } catch (const std::regex_error&) {
    Refuse("--filter=" + options.filter + ": not a regular expression");
  }
  if (selected.empty()) Refuse("--filter=" + options.filter + ": no such case");
  return selected;
}

}  // namespace addnorm_bench
