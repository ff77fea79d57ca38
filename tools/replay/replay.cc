// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <addnorm/addnorm.h>

#include <algorithm>
#include <exception>
#include <fstream>

#include "capture.h"
#include "check.h"
#include "report.h"
#include "step.h"
#include "support/safetensors.h"
#include "support/targets.h"
#include "timing.h"

namespace addnorm_test::replay {
namespace {

constexpr char kUsage[] =
    "Usage: addnorm-replay [--target NAME]... [--json FILE] CAPTURE.safetensors...\n"
    "\n"
    "Replays the Add & Norm steps captured from real transformers, fused and unfused, on every target that this CPU\n"
    "supports, and prints the largest error against the exact result, whether all bits equal the scalar reference, "
    "and\n"
    "the time of a step, also as a multiple of a copy of the same bytes.\n"
    "\n"
    "  --target NAME  replay on this target; may be given several times; default: all that the CPU supports\n"
    "  --json FILE    write the results to FILE as well\n"
    "  --help         print this text\n"
    "\n"
    "Exit code: 0 if all is well; 1 if a bit differs, a bound is broken or a file is malformed; 2 for a wrong command "
    "line.\n"
    "The format of captures is described in tests/data/README.md.\n";

struct Options {
  bool help = false;
  std::vector<std::string> targets;
  std::string json_path;
  std::vector<std::string> captures;
};

class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

void CheckTarget(const std::string& name) {
  const std::vector<std::string>& supported = SupportedTargets();
  if (std::find(supported.begin(), supported.end(), name) != supported.end()) return;
  const bool compiled = addnorm_set_max_target(name.c_str()) == ADDNORM_OK;
  addnorm_set_max_target(nullptr);
  std::string message =
      (compiled ? "this CPU does not support target " : "unknown target ") + Quoted(name) + "; it supports";
  for (const std::string& other : supported) message += " " + other;
  throw UsageError(message);
}

Options ParseArguments(const std::vector<std::string>& arguments) {
  Options options;
  bool only_captures = false;  // after "--"
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_captures || argument.empty() || argument[0] != '-') {
      options.captures.push_back(argument);
      continue;
    }
    if (argument == "--") {
      only_captures = true;
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      continue;
    }
    // Both "--option value" and "--option=value".
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (name != "--target" && name != "--json") throw UsageError("unknown option " + Quoted(name));
    if (equals == std::string::npos && i + 1 == arguments.size()) throw UsageError(name + " needs a value");
    const std::string value = equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    if (name == "--json") {
      if (value.empty()) throw UsageError("--json needs a file name");
      options.json_path = value;
    } else {
      CheckTarget(value);
      if (std::find(options.targets.begin(), options.targets.end(), value) == options.targets.end())
        options.targets.push_back(value);
    }
  }
  if (options.targets.empty()) options.targets = SupportedTargets();
  if (options.captures.empty() && !options.help) throw UsageError("no capture given");
  return options;
}

// Replays one capture and adds what it finds to the report.
class CaptureReplay {
 public:
  CaptureReplay(const Capture& capture, Report* report)
      : capture_(capture), exact_(CheckCapture(capture)), report_(report) {
    const ScopedTarget scalar("scalar");
    for (const Position& position : capture.positions) {
      reference_.emplace_back(capture, position, Calls::kFused, true);
      reference_.back().Run();
    }
  }

  void Run(const std::string& target) {
    const ScopedTarget scoped(target);
    for (Calls calls : {Calls::kFused, Calls::kUnfused}) RunCalls(target, calls);
  }

 private:
  void RunCalls(const std::string& target, Calls calls) {
    TargetResult result;
    result.path = capture_.path;
    result.model = capture_.model;
    result.target = target;
    result.calls = calls;
    result.positions = capture_.positions.size();
    result.rows = capture_.rows;
    result.cols = capture_.cols;
    who_ = target + (calls == Calls::kFused ? ", fused" : ", unfused");

    const bool needs_sum = capture_.placement == Placement::kPre;
    std::vector<Step> steps;
    for (size_t i = 0; i < capture_.positions.size(); ++i) {
      const Position& position = capture_.positions[i];
      Step& step = steps.emplace_back(capture_, position, calls, needs_sum);
      step.Run();
      CheckBits(i, step, &result);
      Measure(capture_, position, exact_[i], step.y().data(), &result.accuracy);
      // Asking for the sum, or not, never changes y.
      Step other(capture_, position, calls, !needs_sum);
      other.Run();
      CheckBits(i, other, &result);
    }
    if (!result.accuracy.first_failure.empty()) Fail(result.accuracy.first_failure);
    result.timing = TimeSteps(&steps);
    report_->results.push_back(std::move(result));
  }

  void CheckBits(size_t index, const Step& step, TargetResult* result) {
    const Position& position = capture_.positions[index];
    CheckSame("y", "the scalar reference", position, step.y().data(), reference_[index].y().data(), result);
    if (step.has_sum()) CheckSame("the sum", "P.sum", position, step.sum().data(), position.sum.data(), result);
  }

  void CheckSame(const char* what, const char* than, const Position& position, const float* actual,
                 const float* expected, TargetResult* result) {
    const size_t size = position.y.size();
    const size_t index = FirstDifference(actual, expected, size);
    if (index == size) return;
    if (result->bits_equal) Fail(ElementName(capture_, position, index) + ": bits of " + what + " differ from " + than);
    result->bits_equal = false;
  }

  void Fail(const std::string& fault) { report_->failures.push_back(capture_.path + ": " + who_ + ": " + fault); }

  const Capture& capture_;
  const std::vector<ExactPosition> exact_;
  Report* const report_;
  std::vector<Step> reference_;
  std::string who_;
};

void ReplayFile(const std::string& path, const Options& options, Report* report) {
  try {
    const Capture capture = ReadCapture(path);
    CaptureReplay replay(capture, report);
    for (const std::string& target : options.targets) replay.Run(target);
  } catch (const MalformedFile& e) {
    report->failures.push_back(e.what());
  } catch (const std::bad_alloc&) {
    report->failures.push_back(path + ": out of memory");
  } catch (const std::exception& e) {
    report->failures.push_back(path + ": " + e.what());
  }
}

}  // namespace

int Replay(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Options options;
  try {
    options = ParseArguments(arguments);
  } catch (const UsageError& e) {
    err << "addnorm-replay: " << e.what() << "\nTry addnorm-replay --help\n";
    return kExitUsage;
  }
  if (options.help) {
    out << kUsage;
    return kExitGood;
  }
  Report report;
  for (const std::string& path : options.captures) ReplayFile(path, options, &report);
  if (!options.json_path.empty()) {
    std::ofstream json(options.json_path);
    WriteJson(report, json);
    json.close();
    if (!json) report.failures.push_back(options.json_path + ": cannot be written");
  }
  if (!report.results.empty()) PrintTable(report, out);
  out.flush();
  for (const std::string& failure : report.failures) err << "addnorm-replay: " << failure << '\n';
  return report.failures.empty() ? kExitGood : kExitFailed;
}

}  // namespace addnorm_test::replay
