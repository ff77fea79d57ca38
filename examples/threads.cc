// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm starts no threads: a caller splits the rows between its own. The bits do not depend on the split.
#include <addnorm/addnorm.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kRows = 1000, kCols = 768;
constexpr double kEpsilon = 1e-12;

// y = LayerNorm(x), each thread taking its share of the rows. True if every part succeeded.
bool LayerNormInThreads(addnorm::Matrix<const float> x, addnorm::Matrix<float> y, int64_t thread_count) {
  std::vector<addnorm::Status> statuses(static_cast<size_t>(thread_count));
  std::vector<std::thread> threads;
  const int64_t share = (x.rows() + thread_count - 1) / thread_count;
  for (int64_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      const int64_t first = std::min(t * share, x.rows());
      const int64_t count = std::min(share, x.rows() - first);
      statuses[static_cast<size_t>(t)] =
          addnorm::LayerNorm(x.row_range(first, count), y.row_range(first, count), kEpsilon);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::all_of(statuses.begin(), statuses.end(), [](addnorm::Status status) { return status.ok(); });
}

}  // namespace

int main() {
  std::vector<float> x(kRows * kCols), alone(x.size()), together(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 2654435761u) % 1001) / 500.0f - 1.0f;
  const addnorm::Matrix<const float> input(x.data(), kRows, kCols);
  const bool ok = LayerNormInThreads(input, addnorm::Matrix(alone.data(), kRows, kCols), 1) &&
                  LayerNormInThreads(input, addnorm::Matrix(together.data(), kRows, kCols), 3);
  const bool equal = std::memcmp(alone.data(), together.data(), x.size() * sizeof(float)) == 0;
  std::printf("%s: 1 thread and 3 threads give %s\n", addnorm::TargetName(), ok && equal ? "the same bits" : "A FAULT");
  return ok && equal ? 0 : 1;
}
