// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/reference_values.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "support/safetensors.h"

namespace addnorm_test {
namespace {

constexpr const char* kFormats[] = {"reference-1", "encoder-layer-1"};

std::string Committed(const std::string& name) { return std::string(ADDNORM_TEST_DATA) + "/" + name; }

// A file without a format is taken for the first one that there was.
std::string FormatOf(const SafetensorsFile& file) {
  const auto found = file.metadata().find("format");
  return found == file.metadata().end() ? "reference-1" : found->second;
}

SafetensorsFile Open(const std::string& format, const std::string& name) {
  const char* variable = std::getenv("ADDNORM_REFERENCE");
  if (variable != nullptr && *variable != '\0') {
    const std::filesystem::path path = variable;
    SafetensorsFile file(std::filesystem::is_directory(path) ? (path / name).string() : path.string());
    const std::string its = FormatOf(file);
    if (its == format) return file;
    if (std::find(std::begin(kFormats), std::end(kFormats), its) == std::end(kFormats)) {
      throw MalformedFile(file.path(), "format " + Quoted(its) + " is not known");
    }
  }
  return SafetensorsFile(Committed(name));
}

}  // namespace

ReferenceValues::ReferenceValues(const std::string& format, const std::string& name) {
  SafetensorsFile file = Open(format, name);
  path_ = file.path();
  is_committed_ = path_ == Committed(name);
  metadata_ = file.metadata();
  for (const auto& [tensor, about] : file.tensors()) {
    tensors_[tensor] = {{about.shape.begin(), about.shape.end()}, file.ReadAsF64(tensor)};
  }
}

const std::string& ReferenceValues::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw std::runtime_error(path_ + ": no " + key + " in the metadata");
  return found->second;
}

const ReferenceTensor& ReferenceValues::operator[](const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::runtime_error(path_ + ": no tensor " + name);
  return found->second;
}

}  // namespace addnorm_test
