// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Calls are right at any time of a program's life: the choice of a target needs nothing to be set up. CTest runs each
// test in a process of its own, so that its first call is the program's first.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "call.h"

namespace {

// True if the call of a child of this process is right.
bool ChildIsRight() {
  const pid_t child = fork();
  if (child == 0) _exit(CallIsRight() != 0 ? 0 : 1);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// As glibc's threads are joined before the fork, the child is a copy of a process of one thread.
TEST(Lifetime, FirstCallInAForkedChild) {
  EXPECT_TRUE(ChildIsRight());
  EXPECT_TRUE(CallIsRight()) << "the first of the parent";
  EXPECT_TRUE(ChildIsRight()) << "of a child after its parent's";
}

TEST(Lifetime, ForkWhileOtherThreadsCall) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) wrong += CallIsRight() != 0 ? 0 : 1;
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ChildIsRight());
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Lifetime, FirstCallInAThread) {
  int right = 0;
  std::thread([&right] { right = CallIsRight(); }).join();
  EXPECT_EQ(right, 1);
}

// ThreadSanitizer looks at first calls at once in tests/sanitize/threads.cc.
TEST(Lifetime, FirstCallsFromThreadsAtOnce) {
  constexpr int kThreads = 8;
  std::atomic<int> waiting{kThreads};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting != 0) {
      }
      right += CallIsRight();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads);
}

// A plugin goes as it came: nothing in the library keeps it in memory or is left behind.
TEST(Lifetime, LoadedAndUnloaded) {
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlopen(ADDNORM_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    const auto call = reinterpret_cast<int (*)()>(dlsym(plugin, "PluginCallIsRight"));
    ASSERT_NE(call, nullptr) << dlerror();
    EXPECT_EQ(call(), 1);
    std::thread([call] { EXPECT_EQ(call(), 1); }).join();
    EXPECT_EQ(dlclose(plugin), 0);
    EXPECT_EQ(dlopen(ADDNORM_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr) << "still loaded";
  }
}

}  // namespace
