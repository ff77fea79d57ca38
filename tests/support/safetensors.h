// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Reads reference values from a safetensors file (tests/data/README.md). Throws std::runtime_error where it is none.
#ifndef ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_
#define ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace addnorm_test {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;  // F32 and F64 are widened
};

class Safetensors {
 public:
  explicit Safetensors(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    uint64_t header_size = 0;
    if (bytes.size() >= 8) std::memcpy(&header_size, bytes.data(), 8);
    if (bytes.size() < 8 || header_size > bytes.size() - 8) throw std::runtime_error(path + ": no safetensors file");
    header_ = bytes.substr(8, static_cast<size_t>(header_size));
    data_ = bytes.substr(8 + static_cast<size_t>(header_size));
    ReadHeader();
  }

  const std::string& metadata(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) throw std::runtime_error(key + ": not in the metadata");
    return found->second;
  }
  bool Has(const std::string& name) const { return tensors_.count(name) != 0; }
  const Tensor& operator[](const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error(name + ": no such tensor");
    return found->second;
  }

 private:
  // ---- Of JSON: objects, lists, strings without escapes, and non-negative integers.

  char Peek() {
    while (at_ < header_.size() && (header_[at_] == ' ' || header_[at_] == '\n' || header_[at_] == '\t')) ++at_;
    if (at_ == header_.size()) throw std::runtime_error("the header ends too early");
    return header_[at_];
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) throw std::runtime_error(std::string("expected ") + c + " in the header");
  }
  std::string String() {
    Expect('"');
    std::string text;
    while (Peek(), header_[at_] != '"') text += header_[at_++];
    ++at_;
    return text;
  }
  std::vector<int64_t> Integers() {
    std::vector<int64_t> list;
    Expect('[');
    if (Take(']')) return list;
    do {
      Peek();
      size_t used = 0;
      list.push_back(std::stoll(header_.substr(at_, 20), &used));
      at_ += used;
    } while (Take(','));
    Expect(']');
    return list;
  }
  template <class Function>
  void Object(const Function& member) {
    Expect('{');
    if (Take('}')) return;
    do {
      const std::string key = String();
      Expect(':');
      member(key);
    } while (Take(','));
    Expect('}');
  }

  void ReadHeader() {
    Object([&](const std::string& name) {
      if (name == "__metadata__") {
        Object([&](const std::string& key) { metadata_[key] = String(); });
        return;
      }
      std::string dtype;
      std::vector<int64_t> offsets;
      Tensor tensor;
      Object([&](const std::string& key) {
        if (key == "dtype") {
          dtype = String();
        } else {
          (key == "shape" ? tensor.shape : offsets) = Integers();
        }
      });
      size_t count = 1;
      for (const int64_t size : tensor.shape) count *= static_cast<size_t>(size);
      const size_t size = dtype == "F64" ? 8 : dtype == "F32" ? 4 : 0;
      if (size == 0) return;  // of no use here
      if (offsets.size() != 2 || offsets[0] < 0 || static_cast<size_t>(offsets[1]) > data_.size() ||
          static_cast<size_t>(offsets[1] - offsets[0]) != count * size) {
        throw std::runtime_error(name + ": wrong offsets");
      }
      for (size_t i = 0; i < count; ++i) {
        const char* from = data_.data() + offsets[0] + i * size;
        float f32 = 0.0f;
        double value = 0.0;
        std::memcpy(size == 8 ? static_cast<void*>(&value) : &f32, from, size);
        tensor.values.push_back(size == 8 ? value : static_cast<double>(f32));
      }
      tensors_.emplace(name, std::move(tensor));
    });
  }

  std::string header_, data_;
  size_t at_ = 0;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_SAFETENSORS_H_
