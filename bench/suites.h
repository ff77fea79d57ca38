// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Named lists of cases, each of which answers one question.
#ifndef ADDNORM_BENCH_SUITES_H_
#define ADDNORM_BENCH_SUITES_H_

#include <string>
#include <vector>

#include "cases.h"

namespace addnorm_bench {

struct Suite {
  const char* name;
  const char* shows;
  std::vector<BenchCase> (*cases)();
};

const std::vector<Suite>& AllSuites();
const Suite* FindSuite(const std::string& name);  // null where there is none

// The shapes of published models; see models.cc.
std::vector<BenchCase> ModelCases();

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_SUITES_H_
