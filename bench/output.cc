// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <addnorm/addnorm.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "machine.h"
#include "peers/peer.h"

namespace addnorm_bench {
namespace {

using Object = nlohmann::ordered_json;

// Changes when a reader of older files would go wrong.
constexpr int kFormat = 1;

constexpr RoofKind kAllRoofs[kRoofs] = {kCopy, kOnePass, kCopyStreaming, kOnePassStreaming};

Object TimingObject(const Timing& timing) {
  Object object;
  object["ns"] = timing.ns;
  object["median_ns"] = timing.median_ns;
  object["spread"] = timing.spread;
  object["rounds"] = timing.rounds;
  object["by"] = timing.name;
  return object;
}

Object MachineObject(const std::string& name) {
  const Machine machine = ThisMachine();
  Object object;
  object["name"] = name.empty() ? machine.cpu : name;
  object["cpu"] = machine.cpu;
  object["cores"] = machine.cores;
  object["l1d_bytes"] = machine.l1d_bytes;
  object["l2_bytes"] = machine.l2_bytes;
  object["l3_bytes"] = machine.l3_bytes;
  object["virtual"] = machine.is_virtual;
  object["system"] = machine.system;
  object["compiler"] = machine.compiler;
  return object;
}

std::string WhoName(const Result& result) {
  std::string name = result.who;
  if (!result.target.empty()) name += " " + result.target;
  if (!result.data.empty()) name += ", " + result.data;
  return name;
}

// What dropout costs.
void PrintRatios(const BenchCase& c, const Competition& competition) {
  if (!c.options.dropout.present()) return;
  const std::vector<Result> results = competition.results();
  for (const Result& without : results) {
    if (without.data.empty()) continue;
    for (const Result& with : results) {
      if (!with.data.empty() || with.target != without.target) continue;
      std::printf("| with dropout on %s: %.2f times the time without | | | | | | | | | | |\n", with.target.c_str(),
                  with.timing.ns / without.timing.ns);
    }
  }
}

}  // namespace

void PrintTableHead() {
  std::printf("| %-23s | %-19s | %-9s | %-16s | %9s | %6s | %6s | %10s | %9s | %13s | %6s |\n", "op", "dtypes", "shape",
              "who", "ns", "GB/s", "x copy", "x one-pass", "x copy, s", "x one-pass, s", "spread");
  std::printf("|");
  for (const int width : {23, 19, 9, 16}) std::printf("%s|", std::string(static_cast<size_t>(width) + 2, '-').c_str());
  for (const int width : {9, 6, 6, 10, 9, 13, 6}) {
    std::printf("%s:|", std::string(static_cast<size_t>(width) + 1, '-').c_str());
  }
  std::printf("\n");
}

void PrintTableRows(const BenchCase& c, const Competition& competition) {
  const std::string variant = c.Variant();
  if (!variant.empty()) std::printf("| **%s** | | | | | | | | | | |\n", variant.c_str());
  for (const Result& result : competition.results()) {
    std::printf("| %-23s | %-19s | %-9s | %-16s | %9.0f | %6.1f |", c.OpName().c_str(), c.DtypesName().c_str(),
                c.ShapeName().c_str(), WhoName(result).c_str(), result.timing.ns,
                static_cast<double>(competition.bytes()) / result.timing.ns);
    int column = 0;
    for (const RoofKind kind : kAllRoofs) {
      constexpr int kWidths[] = {6, 10, 9, 13};
      const Contestant& roof = competition.roof(kind);
      if (roof.empty()) {
        std::printf(" %*s |", kWidths[column], "-");
      } else {
        std::printf(" %*.2f |", kWidths[column], result.timing.ns / roof.best_ns());
      }
      ++column;
    }
    std::printf(" %5.0f%% |\n", result.timing.spread * 100);
  }
  PrintRatios(c, competition);
  for (const std::string& wrong : competition.wrong()) std::printf("\nWrong, so not timed: %s\n\n", wrong.c_str());
  std::fflush(stdout);
}

struct Json::Document {
  Object root;
};

Json::Json(const CommandLine& options) : file_(options.json), document_(new Document) {
  Object& root = document_->root;
  root["format"] = kFormat;
  root["date"] = Now();
  root["commit"] = options.commit;
  root["addnorm_version"] = addnorm_version();
  root["numerics_version"] = addnorm_numerics_version();
  root["machine"] = MachineObject(options.machine);
  root["load_before"] = LoadAverage();
  root["targets"] = options.contest.targets;
  root["peers"] = Object::object();
  if (options.contest.peers) {
    for (const Peer& peer : AllPeers()) root["peers"][peer.name] = peer.version;
  }
  root["cases"] = Object::array();
}

Json::~Json() = default;

void Json::Add(const std::string& suite, const BenchCase& c, const Competition& competition) {
  Object object;
  object["suite"] = suite;
  object["name"] = c.Name();
  object["op"] = c.OpName();
  object["dtypes"] = c.DtypesName();
  object["rows"] = c.shape.rows;
  object["cols"] = c.shape.cols;
  object["bytes"] = competition.bytes();
  object["label"] = c.label;
  object["cache"] = c.cold ? "cold" : "hot";
  object["in_place"] = c.in_place;
  object["streaming"] = c.streaming;
  object["data"] = DataKindName(c.data);
  object["epsilon"] = c.options.epsilon;
  object["threads"] = c.threads;
  for (const RoofKind kind : kAllRoofs) {
    const Contestant& roof = competition.roof(kind);
    object["roofs"][RoofName(kind)] = roof.empty() ? Object() : TimingObject(roof.timing());
  }
  object["results"] = Object::array();
  for (const Result& result : competition.results()) {
    Object entry;
    entry["who"] = result.who;
    if (!result.target.empty()) entry["target"] = result.target;
    if (!result.data.empty()) entry["data"] = result.data;
    entry.update(TimingObject(result.timing));
    for (const RoofKind kind : kAllRoofs) {
      const Contestant& roof = competition.roof(kind);
      if (!roof.empty()) entry[std::string("x_") + RoofName(kind)] = result.timing.ns / roof.best_ns();
    }
    object["results"].push_back(entry);
  }
  if (!competition.wrong().empty()) object["wrong"] = competition.wrong();
  document_->root["cases"].push_back(object);
}

bool Json::Write() const {
  document_->root["load_after"] = LoadAverage();
  std::ofstream file(file_);
  file << document_->root.dump(1) << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace addnorm_bench
