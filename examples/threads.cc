// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm starts no threads: it hands the rows of a call to the caller's. The bits do not depend on the split.
#include <addnorm/addnorm.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kRows = 1000, kCols = 768;
constexpr double kEpsilon = 1e-12;

// Runs body(begin, end) on as many new threads, each with its share of the rows. A program would use its thread pool.
struct Threads {
  template <class Body>
  void operator()(int64_t rows, const Body& body) const {
    std::vector<std::thread> threads;
    const int64_t share = (rows + count - 1) / count;
    for (int64_t begin = 0; begin < rows; begin += share) {
      threads.emplace_back(body, begin, std::min(begin + share, rows));
    }
    for (std::thread& thread : threads) thread.join();
  }

  int64_t count;
};

addnorm::Status LayerNormInThreads(const std::vector<float>& x, std::vector<float>& y, int64_t count) {
  const Threads threads = {count};
  addnorm::NormOptions options;
  options.parallel = addnorm::Parallel::For(threads);
  return addnorm::LayerNorm(addnorm::Matrix(x.data(), kRows, kCols), addnorm::Matrix(y.data(), kRows, kCols), kEpsilon,
                            options);
}

}  // namespace

int main() {
  std::vector<float> x(kRows * kCols), alone(x.size()), together(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 2654435761u) % 1001) / 500.0f - 1.0f;
  const bool ok = LayerNormInThreads(x, alone, 1).ok() && LayerNormInThreads(x, together, 3).ok();
  const bool equal = std::memcmp(alone.data(), together.data(), x.size() * sizeof(float)) == 0;
  std::printf("%s: 1 thread and 3 threads give %s\n", addnorm::TargetName(), ok && equal ? "the same bits" : "A FAULT");
  return ok && equal ? 0 : 1;
}
