// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A strict reader of safetensors files: 8 bytes of little-endian header length, a JSON header, the tensors' data.
// Nothing in a file is trusted: every length and offset is checked before it is used or allocated for.
#ifndef ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_
#define ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_

#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace addnorm_test {

// A file that cannot be used; what() is "FILE: fault".
class MalformedFile : public std::runtime_error {
 public:
  MalformedFile(const std::string& path, const std::string& fault) : std::runtime_error(path + ": " + fault) {}
};

// `text` from a file, fit to be printed: in quotes, control characters escaped, cut when very long.
std::string Quoted(const std::string& text);

struct Tensor {
  std::string dtype;
  std::vector<uint64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the data
  uint64_t end = 0;
};

class SafetensorsFile {
 public:
  // Reads and checks the header; throws MalformedFile.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  // The elements of a tensor of dtype F32; throws MalformedFile when it is of another.
  std::vector<float> ReadF32(const std::string& name);
  // The elements of a tensor of dtype F64, F32 or F16, each exact in f64; throws MalformedFile when it is of another.
  std::vector<double> ReadAsF64(const std::string& name);

 private:
  std::vector<unsigned char> ReadBytes(const std::string& name);
  void ParseHeader(const std::string& header);
  void CheckLayout(uint64_t data_bytes) const;
  [[noreturn]] void Fail(const std::string& fault) const { throw MalformedFile(path_, fault); }

  std::string path_;
  std::ifstream stream_;
  uint64_t data_start_ = 0;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_
