// Ranks that fall asleep at the very moment when something arrives for them: no wake-up may be lost. And how
// they wait beside other programs that want their cores.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

// Meets in a collective that works on shared memory, or by a message each way.
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

// Two cores of this machine, with two busy processes on each that are not ranks. Not where there is one core.
class BesideOtherLoad : public testing::TestWithParam<int> {
 protected:
  static constexpr int busy_processes = 4;
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    if (CPU_COUNT(&before_) < 2) GTEST_SKIP() << "needs two cores";
    cpu_set_t two;
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &two);
    ASSERT_EQ(sched_setaffinity(0, sizeof two, &two), 0);
    for (int i = 0; i < busy_processes; ++i) {
      load_.push_back(fork());
      if (load_.back() == 0)
        for (alarm(60);;) busy_for(microseconds(1000));  // ends by itself, whatever becomes of this program
    }
  }
  void TearDown() override {
    for (const pid_t pid : load_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    sched_setaffinity(0, sizeof before_, &before_);
    unsetenv("DIST_TRANSPORT");
  }

  // Seconds of 300 all_reduces of four bytes, on rank 0.
  static double seconds_by(const char* transport) {
    setenv("DIST_TRANSPORT", transport, 1);
    ProcessRanks ranks(GetParam(), [](int, const std::function<void()>& ready) {
      ready();
      init_process_group({.timeout = std::chrono::seconds(20)});
      Tensor t = ones({1});
      barrier();
      const auto begin = Clock::now();
      for (int i = 0; i < 300; ++i) all_reduce(t, ReduceOp::max);
      const std::chrono::duration<double> took = Clock::now() - begin;
      destroy_process_group();
      return std::to_string(took.count());
    });
    return std::stod(ranks.join(milliseconds(60'000))[0].text);
  }

 private:
  cpu_set_t before_{};
  std::vector<pid_t> load_;
};

// A rank that yields there waits for a whole time slice of a busy process: shared memory took 40 times as
// long.
TEST_P(BesideOtherLoad, SharedMemoryIsNotSlowerThanTcp) {
  double shared = 1e9, tcp = 1e9;
  for (int i = 0; i < 3; ++i) {
    shared = std::min(shared, seconds_by("shm"));
    tcp = std::min(tcp, seconds_by("tcp"));
  }
  EXPECT_LT(shared, 4 * tcp) << shared << " and " << tcp << " s";
}

INSTANTIATE_TEST_SUITE_P(Ranks, BesideOtherLoad, testing::Values(4, 8));

}  // namespace
}  // namespace dist::test
