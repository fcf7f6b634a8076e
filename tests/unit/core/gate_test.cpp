#include "dist/core/gate.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace dist {
namespace {

TEST(Gate, IsClosedAtFirst) {
  Gate gate;
  EXPECT_FALSE(Gate::Pass(gate));
  EXPECT_TRUE(gate.is_empty());
}

TEST(Gate, PassesAreNestedAndMoved) {
  Gate gate;
  gate.open();
  for (int round = 0; round < 3; ++round) {  // from the second pass on the thread is its owner
    Gate::Pass outer(gate);
    ASSERT_TRUE(outer);
    {
      const Gate::Pass inner(gate);
      EXPECT_TRUE(inner);
    }
    EXPECT_FALSE(gate.is_empty());
    const Gate::Pass moved(std::move(outer));
    EXPECT_FALSE(gate.is_empty());
  }
  EXPECT_TRUE(gate.is_empty());
}

TEST(Gate, RenewForgetsWhoIsInside) {
  Gate gate;
  gate.open();
  std::vector<Gate::Pass> kept;
  kept.emplace_back(gate);
  gate.renew();
  EXPECT_TRUE(gate.is_empty());
  EXPECT_FALSE(Gate::Pass(gate));
}

// What the gate protects is freed when all threads have left, and is not used afterwards; the sanitizers
// check that.
TEST(Gate, NobodyUsesWhatIsFreed) {
  for (int round = 0; round < 50; ++round) {
    Gate gate;
    auto behind = std::make_unique<std::vector<int>>(100, round);
    gate.open();
    std::vector<std::thread> users;
    std::atomic<int> begun{0};
    for (int i = 0; i < 3; ++i)
      users.emplace_back([&] {
        ++begun;
        while (const Gate::Pass pass{gate}) EXPECT_EQ(behind->at(50), round);
      });
    while (begun < 3) std::this_thread::yield();
    gate.close();
    while (!gate.is_empty()) std::this_thread::yield();
    behind.reset();
    for (auto& user : users) user.join();
  }
}

}  // namespace
}  // namespace dist
