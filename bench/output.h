// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What was measured, as a Markdown table and as JSON.
#ifndef ADDNORM_BENCH_OUTPUT_H_
#define ADDNORM_BENCH_OUTPUT_H_

#include <memory>
#include <string>

#include "competition.h"
#include "options.h"

namespace addnorm_bench {

void PrintTableHead();
void PrintTableRows(const BenchCase& bench_case, const Competition& competition);

// Collects cases for one file.
class Json {
 public:
  explicit Json(const CommandLine& options);
  ~Json();
  void Add(const std::string& suite, const BenchCase& bench_case, const Competition& competition);
  // False if the file cannot be written.
  bool Write() const;

 private:
  struct Document;
  std::string file_;
  std::unique_ptr<Document> document_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_OUTPUT_H_
