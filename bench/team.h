// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_TEAM_H_
#define ADDNORM_BENCH_TEAM_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace addnorm_bench {

// Threads, each on a core of its own, that wait for work by spinning: what they do starts within a fraction of a
// microsecond. The calling thread is one of them.
class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // work(0) ... work(threads - 1), at once; returns when all are done.
  void Run(const std::function<void(int)>& work);

 private:
  void Work(int part, int cpu);

  std::vector<std::thread> workers_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<long> calls_{0};
  std::atomic<int> running_{0};
  std::atomic<bool> end_{false};
};

// How often and by whom a piece of work on the copies of a case's operands is done.
class Runner {
 public:
  Runner(size_t copies, int threads) : copies_(copies) {
    if (threads > 1) team_.reset(new Team(threads));
  }

  int threads() const { return team_ ? team_->threads() : 1; }

  // Times `work(copy, part)`, with part < threads(). One copy after another, whoever used the last one, so that no
  // other work leaves in a cache what the next finds there.
  template <class Work>
  void Repeat(long times, const Work& work) {
    for (long t = 0; t < times; ++t) {
      if (copies_ > 1) copy_ = (copy_ + 1) % copies_;
      if (!team_) {
        work(copy_, 0);
        continue;
      }
      team_->Run([&](int part) { work(copy_, part); });
    }
  }

 private:
  size_t copies_, copy_ = 0;
  std::unique_ptr<Team> team_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_TEAM_H_
