// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "team.h"

#include <cstdio>

#include "measure.h"

namespace addnorm_bench {

Team::Team(int threads) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int own = CurrentCore();
  if (threads > cores) std::fprintf(stderr, "%d threads on %d cores: they will wait for each other\n", threads, cores);
  for (int part = 1; part < threads; ++part) {
    const int cpu = own < 0 || cores == 0 ? -1 : (own + part) % cores;
    workers_.emplace_back([this, part, cpu] { Work(part, cpu); });
  }
}

Team::~Team() {
  end_ = true;
  for (std::thread& worker : workers_) worker.join();
}

void Team::Work(int part, int cpu) {
  // Threads inherit the one core of the thread that made them.
  if (!PinToCore(cpu)) std::fprintf(stderr, "thread %d has no core of its own\n", part);
  for (long done = 0;; ++done) {
    while (calls_.load(std::memory_order_acquire) == done) {
      if (end_.load(std::memory_order_relaxed)) return;
    }
    (*work_)(part);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

void Team::Run(const std::function<void(int)>& work) {
  work_ = &work;
  running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  calls_.fetch_add(1, std::memory_order_release);
  work(0);
  while (running_.load(std::memory_order_acquire) != 0) {
  }
}

}  // namespace addnorm_bench
