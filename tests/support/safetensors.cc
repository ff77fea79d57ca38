// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "support/dtype.h"

namespace addnorm_test {
namespace {

using Json = nlohmann::json;

// Room for some ten thousand tensors. A longer header is refused, so that a lying file cannot make the parser use
// memory out of proportion.
constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 22;
// {"name": {"shape": [...]}}
constexpr size_t kMaxDepth = 3;
constexpr size_t kLengthBytes = 8;

const std::map<std::string, uint64_t>& DtypeBytes() {
  static const std::map<std::string, uint64_t> bytes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U16", 2}, {"I16", 2}, {"F16", 2},
      {"BF16", 2}, {"U32", 4}, {"I32", 4}, {"F32", 4},     {"U64", 8},     {"I64", 8}, {"F64", 8}};
  return bytes;
}

uint64_t LittleEndian64(const unsigned char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

float LittleEndianF32(const unsigned char* bytes) {
  return F32OfBits(uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24);
}

float LittleEndianF16(const unsigned char* bytes) { return F16ToF32(static_cast<uint16_t>(bytes[0] | bytes[1] << 8)); }

// Refuses, while a document is parsed, what its parsed form no longer shows or should never be built: duplicate keys
// and deep nesting.
class StrictStructure {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        keys_.emplace_back();
        if (keys_.size() > kMaxDepth) throw std::runtime_error("header nests too deeply");
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        keys_.pop_back();
        break;
      case Json::parse_event_t::key: {
        const std::string& key = parsed.get_ref<const std::string&>();
        if (!keys_.back().insert(key).second) throw std::runtime_error("header has " + Quoted(key) + " twice");
        break;
      }
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

std::vector<uint64_t> UnsignedList(const Json& list, const std::string& what) {
  if (!list.is_array()) throw std::runtime_error(what + " is not a list");
  std::vector<uint64_t> values;
  for (const Json& value : list) {
    if (!value.is_number_unsigned()) throw std::runtime_error(what + " is not a list of non-negative integers");
    values.push_back(value.get<uint64_t>());
  }
  return values;
}

std::string TextOf(const Json& object, const char* key, const std::string& what) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) throw std::runtime_error(what + " has no text " + Quoted(key));
  return found->get<std::string>();
}

Tensor ParseTensor(const std::string& name, const Json& entry) {
  const std::string what = "tensor " + Quoted(name);
  if (!entry.is_object()) throw std::runtime_error(what + " is not an object");
  for (const auto& field : entry.items()) {
    if (field.key() != "dtype" && field.key() != "shape" && field.key() != "data_offsets")
      throw std::runtime_error(what + " has an unknown field " + Quoted(field.key()));
  }
  Tensor tensor;
  tensor.dtype = TextOf(entry, "dtype", what);
  const auto element = DtypeBytes().find(tensor.dtype);
  if (element == DtypeBytes().end()) throw std::runtime_error(what + " has the unknown dtype " + Quoted(tensor.dtype));
  for (const char* key : {"shape", "data_offsets"}) {
    if (entry.find(key) == entry.end()) throw std::runtime_error(what + " has no " + key);
  }
  tensor.shape = UnsignedList(entry.at("shape"), what + ": shape");
  const std::vector<uint64_t> offsets = UnsignedList(entry.at("data_offsets"), what + ": data_offsets");
  if (offsets.size() != 2) throw std::runtime_error(what + ": data_offsets is not a pair");
  std::tie(tensor.begin, tensor.end) = std::make_pair(offsets[0], offsets[1]);
  if (tensor.begin > tensor.end) throw std::runtime_error(what + ": data_offsets are out of order");

  uint64_t bytes = element->second;
  for (uint64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) throw std::runtime_error(what + ": shape overflows");
  }
  if (tensor.end - tensor.begin != bytes) {
    throw std::runtime_error(what + ": data_offsets span " + std::to_string(tensor.end - tensor.begin) +
                             " bytes, but dtype and shape need " + std::to_string(bytes));
  }
  return tensor;
}

}  // namespace

std::string Quoted(const std::string& text) {
  constexpr size_t kMaxLength = 80;
  std::string quoted = "\"";
  for (char c : text.substr(0, kMaxLength)) {
    const unsigned char code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      static const char* const kHex = "0123456789abcdef";
      quoted += "\\x";
      quoted += kHex[code >> 4];
      quoted += kHex[code & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + (text.size() > kMaxLength ? "...\"" : "\"");
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) Fail("no such file");
  if (error) Fail(error.message());
  if (!std::filesystem::is_regular_file(status)) Fail("is not a regular file");
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) Fail(error.message());
  stream_.open(path, std::ios::binary);
  if (!stream_) Fail("cannot be opened");

  unsigned char length_bytes[kLengthBytes];
  if (size < kLengthBytes) Fail("truncated: " + std::to_string(size) + " bytes, shorter than the header length");
  if (!stream_.read(reinterpret_cast<char*>(length_bytes), kLengthBytes)) Fail("cannot be read");
  const uint64_t header_bytes = LittleEndian64(length_bytes);
  if (header_bytes > size - kLengthBytes) {
    Fail("header length " + std::to_string(header_bytes) + " is larger than the file (" + std::to_string(size) +
         " bytes)");
  }
  if (header_bytes > kMaxHeaderBytes) {
    Fail("header length " + std::to_string(header_bytes) + " is beyond the limit of " +
         std::to_string(kMaxHeaderBytes));
  }
  std::string header(static_cast<size_t>(header_bytes), '\0');
  if (!stream_.read(header.data(), static_cast<std::streamsize>(header_bytes))) Fail("cannot be read");
  data_start_ = kLengthBytes + header_bytes;
  try {
    ParseHeader(header);
    CheckLayout(size - data_start_);
  } catch (const Json::parse_error& e) {
    Fail("header is not valid JSON (at byte " + std::to_string(e.byte) + " of it)");
  } catch (const Json::exception&) {
    Fail("header has a number out of range");
  } catch (const std::runtime_error& e) {
    Fail(e.what());
  }
}

void SafetensorsFile::ParseHeader(const std::string& header) {
  if (header.empty() || header.front() != '{') throw std::runtime_error("header does not begin with '{'");
  const Json json = Json::parse(header, StrictStructure());
  for (const auto& entry : json.items()) {
    if (entry.key() != "__metadata__") {
      tensors_.emplace(entry.key(), ParseTensor(entry.key(), entry.value()));
      continue;
    }
    if (!entry.value().is_object()) throw std::runtime_error("__metadata__ is not an object");
    for (const auto& pair : entry.value().items()) {
      metadata_.emplace(pair.key(), TextOf(entry.value(), pair.key().c_str(), "__metadata__"));
    }
  }
}

// The tensors cover the data without gap or overlap, as the format demands.
void SafetensorsFile::CheckLayout(uint64_t data_bytes) const {
  std::vector<std::pair<const std::string*, const Tensor*>> order;
  for (const auto& [name, tensor] : tensors_) order.emplace_back(&name, &tensor);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second->begin, a.second->end) < std::tie(b.second->begin, b.second->end);
  });
  for (const auto& [name, tensor] : order) {
    if (tensor->end <= data_bytes) continue;
    throw std::runtime_error("truncated: tensor " + Quoted(*name) + " ends at byte " + std::to_string(tensor->end) +
                             " of the data, which has " + std::to_string(data_bytes));
  }
  uint64_t covered = 0;
  for (const auto& [name, tensor] : order) {
    const std::string what = "tensor " + Quoted(*name);
    if (tensor->begin < covered) throw std::runtime_error(what + ": data_offsets overlap another tensor's");
    if (tensor->begin > covered) throw std::runtime_error(what + ": data_offsets leave a gap before it");
    covered = tensor->end;
  }
  if (covered != data_bytes)
    throw std::runtime_error(std::to_string(data_bytes - covered) + " bytes after the last tensor belong to none");
}

std::vector<unsigned char> SafetensorsFile::ReadBytes(const std::string& name) {
  const Tensor& tensor = tensors_.at(name);
  // The header was checked against the file's size, so that this allocates no more than the file holds.
  std::vector<unsigned char> bytes(static_cast<size_t>(tensor.end - tensor.begin));
  stream_.seekg(static_cast<std::streamoff>(data_start_ + tensor.begin));
  if (!stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    Fail("tensor " + Quoted(name) + " cannot be read");
  return bytes;
}

std::vector<float> SafetensorsFile::ReadF32(const std::string& name) {
  const std::string& dtype = tensors_.at(name).dtype;
  if (dtype != "F32") Fail("tensor " + Quoted(name) + " is " + dtype + ", not F32");
  const std::vector<unsigned char> bytes = ReadBytes(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) values[i] = LittleEndianF32(&bytes[i * sizeof(float)]);
  return values;
}

std::vector<double> SafetensorsFile::ReadAsF64(const std::string& name) {
  const std::string& dtype = tensors_.at(name).dtype;
  if (dtype != "F64" && dtype != "F32" && dtype != "F16")
    Fail("tensor " + Quoted(name) + " is " + dtype + ", not F64, F32 or F16");
  const std::vector<unsigned char> bytes = ReadBytes(name);
  const size_t size = static_cast<size_t>(DtypeBytes().at(dtype));
  std::vector<double> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) {
    const unsigned char* element = &bytes[i * size];
    values[i] = size == 8   ? F64OfBits(LittleEndian64(element))
                : size == 4 ? static_cast<double>(LittleEndianF32(element))
                            : static_cast<double>(LittleEndianF16(element));
  }
  return values;
}

}  // namespace addnorm_test
