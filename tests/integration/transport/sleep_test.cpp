// Ranks that fall asleep at the very moment something comes for them: no wake-up may be lost.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/process_ranks.h"

namespace dist::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 20'000;

void busy_for(microseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

// Of a collective that works on shared memory, or of a message each way.
std::string meet_at_random_moments(bool by_messages, int rank) {
  init_process_group({.timeout = std::chrono::seconds(5)});
  try {
    std::mt19937 random(static_cast<unsigned>(rank + 1));
    Tensor mine = ones({1}), theirs = zeros({1});
    for (int i = 0; i < rounds; ++i) {
      busy_for(microseconds(random() % 16));  // about as long as it takes to look, to fall asleep and to wake
      if (!by_messages) {
        all_reduce(mine, ReduceOp::max);
      } else if (rank == 0) {
        send(mine, 1);
        recv(theirs, 1);
      } else {
        recv(theirs, 0);
        send(mine, 0);
      }
    }
    destroy_process_group();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_that_all_meet(bool by_messages) {
  ASSERT_EQ(setenv("DIST_SPIN_US", "2", 1), 0);
  ProcessRanks ranks(2, [=](int rank, const std::function<void()>& ready) {
    ready();
    return meet_at_random_moments(by_messages, rank);
  });
  for (const auto& report : ranks.join(milliseconds(60'000))) EXPECT_EQ(report.text, "");
  ASSERT_EQ(unsetenv("DIST_SPIN_US"), 0);
}

TEST(FallingAsleep, LosesNoNotice) { expect_that_all_meet(false); }
TEST(FallingAsleep, LosesNoMessage) { expect_that_all_meet(true); }

}  // namespace
}  // namespace dist::test
