// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_OPTIONS_H_
#define ADDNORM_BENCH_OPTIONS_H_

#include <string>
#include <vector>

#include "cases.h"
#include "competition.h"

namespace addnorm_bench {

struct CommandLine {
  std::vector<std::string> suites;
  std::string filter;
  Contest contest;
  double budget_ms = 200;
  int cpu = -1;
  bool cold = false;
  bool in_place = false;
  bool streaming = false;
  bool table = false;
  bool floors = false;
  std::string json;    // file to write; empty: none
  std::string commit;  // to write there
  std::string machine;
};

// Ends the program with a message.
[[noreturn]] void Refuse(const std::string& fault);

// Takes our own options out of argv and leaves the others. Ends the program on --help, or a wrong one.
CommandLine ParseOwnOptions(int* argc, char** argv);

struct SuiteCases {
  std::string suite;
  std::vector<BenchCase> cases;
};

// The cases of the suites that the filter lets through, cold and in place as asked. Never empty.
std::vector<SuiteCases> SelectedCases(const CommandLine& options);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_OPTIONS_H_
