// DIST_DEADLOCK_AFTER: what can never end is reported long before its timeout; what may still end is left
// alone.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"

namespace {

using namespace std::chrono_literals;

class DeadlockAfter : public testing::Test {
 protected:
  void SetUp() override { setenv("DIST_DEADLOCK_AFTER", "1", 1); }
  void TearDown() override { unsetenv("DIST_DEADLOCK_AFTER"); }
};

TEST_F(DeadlockAfter, ACycleOfReceivesIsTold) {
  const auto start = std::chrono::steady_clock::now();
  try {
    dist::spawn(3, [](int rank) {
      dist::init_process_group({.timeout = 60s});
      auto t = dist::zeros({4});
      dist::recv(t, (rank + 1) % 3);
    });
    FAIL() << "there is no deadlock";
  } catch (const dist::Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("; D1 deadlock: 3 ranks wait"), text.npos) << text;
    EXPECT_NE(text.find("deadlock_test.cpp:"), text.npos) << text;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
}

TEST_F(DeadlockAfter, ALateRankIsWaitedFor) {
  EXPECT_NO_THROW(dist::spawn(2, [](int rank) {
    dist::init_process_group({.timeout = 60s});
    auto t = dist::ones({4});
    if (rank == 1) std::this_thread::sleep_for(2500ms);
    dist::all_reduce(t);
    dist::destroy_process_group();
  }));
}

}  // namespace
