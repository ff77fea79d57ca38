// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <addnorm/addnorm.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace addnorm_test::replay {
namespace {

using Cells = std::vector<std::string>;

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

const char* CallsText(Calls calls) { return calls == Calls::kFused ? "fused" : "unfused"; }

Cells RowOf(const TargetResult& r) {
  return {r.model,
          r.target,
          CallsText(r.calls),
          std::to_string(r.positions),
          std::to_string(r.rows),
          std::to_string(r.cols),
          Fixed(r.accuracy.max_ulp, 3),
          Fixed(r.accuracy.bound, 1),
          r.bits_equal ? "equal" : "DIFFER",
          Fixed(r.timing.ns_per_step, 0),
          Fixed(r.timing.GigabytesPerSecond(), 1),
          Fixed(r.timing.MultipleOfCopy(), 2)};
}

}  // namespace

void PrintTable(const Report& report, std::ostream& out) {
  constexpr size_t kTextColumns = 3;  // aligned to the left
  std::vector<Cells> table = {
      {"model", "target", "calls", "positions", "rows", "D", "max ULP", "bound", "bits", "ns/step", "GB/s", "x copy"}};
  for (const TargetResult& result : report.results) table.push_back(RowOf(result));
  std::vector<size_t> width(table[0].size(), 0);
  for (const Cells& cells : table) {
    for (size_t c = 0; c < cells.size(); ++c) width[c] = std::max(width[c], cells[c].size());
  }
  for (const Cells& cells : table) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(width[c] - cells[c].size(), ' ');
      if (c != 0) line += "  ";
      line += c < kTextColumns ? cells[c] + padding : padding + cells[c];
    }
    out << line << '\n';
  }
}

void WriteJson(const Report& report, std::ostream& out) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const TargetResult& r : report.results) {
    results.push_back({{"file", r.path},
                       {"model", r.model},
                       {"target", r.target},
                       {"calls", CallsText(r.calls)},
                       {"positions", r.positions},
                       {"rows", r.rows},
                       {"cols", r.cols},
                       {"max_ulp", r.accuracy.max_ulp},
                       {"bound_ulp", r.accuracy.bound},
                       {"within_bound", r.accuracy.first_failure.empty()},
                       {"bits_equal", r.bits_equal},
                       {"bytes_per_step", r.timing.bytes_per_step},
                       {"ns_per_step", r.timing.ns_per_step},
                       {"copy_ns_per_step", r.timing.copy_ns_per_step}});
  }
  const nlohmann::ordered_json json = {{"format", "addnorm-replay-1"},
                                       {"version", addnorm_version()},
                                       {"numerics_version", addnorm_numerics_version()},
                                       {"failures", report.failures},
                                       {"results", results}};
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace addnorm_test::replay
