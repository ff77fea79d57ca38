// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The input of addnorm-replay: any file is a capture that can be replayed, or refused with a message that names it and
// the fault. What a small file makes the reader allocate is limited by the fuzzer (-malloc_limit_mb).
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../../tools/replay/capture.h"
#include "../../tools/replay/check.h"
#include "../../tools/replay/step.h"
#include "support/safetensors.h"

namespace addnorm_test::replay {
namespace {

// A file in memory, with a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("capture", 0)) {
    if (descriptor_ < 0) std::abort();
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  const std::string& path() const { return path_; }
  void Write(const std::string& bytes) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }

 private:
  int descriptor_;
  std::string path_;
};

// Lets most inputs have the header length that fits: the first byte tells whether it is counted, to the first zero
// byte, or part of the input.
std::string FileOf(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return bytes;
  const bool counted = bytes[0] % 8 != 0;
  bytes.erase(0, 1);
  if (!counted) return bytes;
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const uint64_t length = end;
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + bytes.substr(0, end) + (end < bytes.size() ? bytes.substr(end + 1) : "");
}

void Replay(const std::string& path) {
  const Capture capture = ReadCapture(path);
  if (capture.rows * capture.cols > 4096) return;  // takes long
  const std::vector<ExactPosition> exact = CheckCapture(capture);
  for (size_t i = 0; i < capture.positions.size(); ++i) {
    for (const Calls calls : {Calls::kFused, Calls::kUnfused}) {
      Step step(capture, capture.positions[i], calls, true);
      step.Run();
      Accuracy accuracy;
      Measure(capture, capture.positions[i], exact[i], step.y().data(), &accuracy);
      if (accuracy.first_failure.empty()) continue;
      std::fprintf(stderr, "%s\n", accuracy.first_failure.c_str());
      std::abort();
    }
  }
}

}  // namespace
}  // namespace addnorm_test::replay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace addnorm_test::replay;
  static const MemoryFile file;
  file.Write(FileOf(data, size));
  try {
    Replay(file.path());
  } catch (const addnorm_test::MalformedFile& e) {
    const std::string message = e.what(), start = file.path() + ": ";
    if (message.compare(0, start.size(), start) != 0 || message.size() == start.size()) {
      std::fprintf(stderr, "no clear message: %s\n", message.c_str());
      std::abort();
    }
  }
  return 0;
}
