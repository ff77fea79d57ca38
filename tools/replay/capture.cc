// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "support/safetensors.h"

namespace addnorm_test::replay {
namespace {

using Shape = std::vector<uint64_t>;

std::string ShapeText(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

class CaptureReader {
 public:
  explicit CaptureReader(const std::string& path) : file_(path) {}

  Capture Read() {
    if (Metadata("format") != "addnorm-capture-1") FailMetadata("format", "\"addnorm-capture-1\"");
    Capture capture;
    capture.path = file_.path();
    capture.model = Metadata("model");
    capture.norm = Choice("norm", "layer", "rms") ? NormKind::kLayer : NormKind::kRms;
    capture.placement = Choice("placement", "post", "pre") ? Placement::kPost : Placement::kPre;
    capture.epsilon = Epsilon();
    for (const std::string& name : PositionNames()) capture.positions.push_back(ReadPosition(name, &capture));
    for (const auto& [name, tensor] : file_.tensors()) {
      if (used_.count(name) == 0) Fail("tensor " + Quoted(name) + " belongs to no position");
    }
    return capture;
  }

 private:
  [[noreturn]] void Fail(const std::string& fault) const { throw MalformedFile(file_.path(), fault); }

  [[noreturn]] void FailMetadata(const std::string& key, const std::string& expected) const {
    Fail("metadata " + Quoted(key) + " is " + Quoted(Metadata(key)) + ", expected " + expected);
  }

  const std::string& Metadata(const std::string& key) const {
    const auto found = file_.metadata().find(key);
    if (found == file_.metadata().end()) Fail("metadata " + Quoted(key) + " is missing");
    return found->second;
  }

  // True for the first of two values, false for the second.
  bool Choice(const std::string& key, const std::string& first, const std::string& second) const {
    const std::string& value = Metadata(key);
    if (value != first && value != second) FailMetadata(key, Quoted(first) + " or " + Quoted(second));
    return value == first;
  }

  double Epsilon() const {
    const std::string& text = Metadata("epsilon");
    // strtod alone would take "nan", "inf", hexadecimals and leading blanks.
    const bool decimal = !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos;
    char* end = nullptr;
    const double value = decimal ? std::strtod(text.c_str(), &end) : std::numeric_limits<double>::quiet_NaN();
    if (!decimal || *end != '\0' || !std::isfinite(value) || std::signbit(value))
      FailMetadata("epsilon", "a finite decimal number that is not negative");
    return value;
  }

  std::vector<std::string> PositionNames() const {
    const nlohmann::json list = nlohmann::json::parse(
        Metadata("positions"),
        [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= 1; },  // build nothing nested
        /*allow_exceptions=*/false);
    bool good = list.is_array() && !list.empty();
    std::set<std::string> unique;
    for (size_t i = 0; good && i < list.size(); ++i) good = list[i].is_string() && unique.insert(list[i]).second;
    if (!good) FailMetadata("positions", "a JSON list of different names");
    return list.get<std::vector<std::string>>();
  }

  Position ReadPosition(const std::string& name, Capture* capture) {
    Position position;
    position.name = name;
    const bool first = capture->positions.empty();
    const bool has_operands = Has(name + ".residual") || Has(name + ".x");
    position.has_add = !first || has_operands;
    if (first) SetShape(name, capture);
    const Shape matrix = {static_cast<uint64_t>(capture->rows), static_cast<uint64_t>(capture->cols)};
    const Shape vector = {static_cast<uint64_t>(capture->cols)};
    if (position.has_add) {
      position.residual = ReadTensor(name + ".residual", matrix);
      position.x = ReadTensor(name + ".x", matrix);
    }
    position.sum = ReadTensor(name + ".sum", matrix);
    position.gamma = ReadTensor(name + ".gamma", vector);
    if (capture->norm == NormKind::kLayer) position.beta = ReadTensor(name + ".beta", vector);
    position.y = ReadTensor(name + ".y", matrix);
    return position;
  }

  // rows and cols of the capture are those of its first position.
  void SetShape(const std::string& name, Capture* capture) {
    const std::string sum = name + ".sum";
    if (!Has(sum)) FailMissing(sum);
    const Shape& shape = file_.tensors().at(sum).shape;
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0)
      Fail("tensor " + Quoted(sum) + " has shape " + ShapeText(shape) + ", expected [tokens, features]");
    capture->rows = static_cast<int64_t>(shape[0]);
    capture->cols = static_cast<int64_t>(shape[1]);
  }

  bool Has(const std::string& name) const { return file_.tensors().count(name) != 0; }
  [[noreturn]] void FailMissing(const std::string& name) const { Fail("tensor " + Quoted(name) + " is missing"); }

  std::vector<float> ReadTensor(const std::string& name, const Shape& shape) {
    if (!Has(name)) FailMissing(name);
    const Shape& stored = file_.tensors().at(name).shape;
    if (stored != shape) {
      Fail("tensor " + Quoted(name) + " has shape " + ShapeText(stored) + ", expected " + ShapeText(shape));
    }
    used_.insert(name);
    std::vector<float> values = file_.ReadF32(name);
    for (size_t i = 0; i < values.size(); ++i) {
      // No bound speaks of such rows, and a capture with one is more likely broken than meant.
      if (!std::isfinite(values[i]))
        Fail("tensor " + Quoted(name) + ": element " + std::to_string(i) + " is not finite");
    }
    return values;
  }

  SafetensorsFile file_;
  std::set<std::string> used_;
};

}  // namespace

Capture ReadCapture(const std::string& path) { return CaptureReader(path).Read(); }

}  // namespace addnorm_test::replay
