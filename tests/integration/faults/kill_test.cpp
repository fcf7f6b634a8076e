// A rank dies by SIGKILL at a random moment: every survivor ends within 2 s with an error that names it.
// Ranks that are stopped at random moments, and go on, are not called dead. Nothing is left in /dev/shm or
// /tmp.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/left_files.h"
#include "support/process_ranks.h"

namespace dist::test {
namespace {

using std::chrono::milliseconds;

// Does every kind of work that a program can do, for this long by rank 0's clock, or until an operation
// fails.
std::string work(int rank, const std::function<void()>& ready, milliseconds for_so_long) {
  try {
    init_process_group({.timeout = std::chrono::seconds(20)});
    ready();
    const auto until = ProcessRanks::Clock::now() + for_so_long;
    const int n = get_world_size(), right = (rank + 1) % n, left = (rank + n - 1) % n;
    std::vector<float> blob(400'000);
    Tensor foreign = Tensor::from_blob(blob.data(), {400'000});
    for (int round = 0;; ++round) {
      Tensor small = ones({1 + round % 50}), large = ones({300'000}), in = zeros({100'000}),
             out = ones({100'000});
      all_reduce(small);
      Work pending = all_reduce(large, ReduceOp::max, {.async_op = true});
      auto swap = batch_isend_irecv({{P2P::isend, out, right}, {P2P::irecv, in, left}});
      for (auto& work : swap) work.wait();
      pending.wait();
      if (round % 7 == 0) new_group({0, n - 1});
      broadcast(small, round % n);
      all_reduce(foreign, ReduceOp::min);
      Tensor is_over = full({1}, ProcessRanks::Clock::now() > until ? 1 : 0);
      broadcast(is_over, 0);
      if (max(is_over) == 1) break;
    }
    destroy_process_group();
    return "done";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string work_until_it_fails(int rank, const std::function<void()>& ready) {
  return work(rank, ready, std::chrono::hours(1));
}

void kill_one_of(int n, int trial, const char* transport, bool after_init) {
  std::mt19937 random(static_cast<unsigned>(trial));
  const int victim = static_cast<int>(random() % static_cast<unsigned>(n));
  ProcessRanks ranks(n, work_until_it_fails);
  if (after_init) {
    ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
  ranks.kill(victim);
  const auto killed = ProcessRanks::Clock::now();
  const auto reports = ranks.join(milliseconds(10'000));
  const std::string culprit = "rank " + std::to_string(victim);
  for (int rank = 0; rank < n; ++rank) {
    const auto& report = reports[static_cast<std::size_t>(rank)];
    SCOPED_TRACE("trial " + std::to_string(trial) + " over " + transport + ", " + culprit + " killed; rank " +
                 std::to_string(rank) + " said: " + report.text);
    if (rank == victim) continue;
    EXPECT_EQ(report.signal, 0);
    EXPECT_LE(report.ended - killed, milliseconds(2000));
    EXPECT_NE(report.text.find(culprit), std::string::npos);  // the speaker's own name is another
  }
}

void kill_many_times(int trials, const char* transport, bool after_init) {
  ASSERT_EQ(setenv("DIST_TRANSPORT", transport, 1), 0);
  const auto shm_before = left_files_in("/dev/shm"), tmp_before = left_files_in("/tmp");
  for (int trial = 0; trial < trials && !testing::Test::HasFailure(); ++trial)
    kill_one_of(2 + trial % 4, trial, transport, after_init);
  EXPECT_EQ(left_files_in("/dev/shm"), shm_before);
  EXPECT_EQ(left_files_in("/tmp"), tmp_before);
}

// From the start of the job: some ranks are stopped while they meet.
void stop_many_times(int pairs, const char* transport) {
  ASSERT_EQ(setenv("DIST_TRANSPORT", transport, 1), 0);
  constexpr int n = 4, longest = 3000, latest = 2500;  // ms
  std::mt19937 random(40);
  struct Signal {
    milliseconds at;
    int rank, number;
  };
  std::vector<Signal> signals;
  for (int pair = 0; pair < pairs; ++pair) {
    const int rank = static_cast<int>(random() % n);
    const milliseconds at(pair < 2 ? random() % 20 : random() % latest), duration(random() % longest);
    signals.push_back({at, rank, SIGSTOP});
    signals.push_back({at + duration, rank, SIGCONT});
  }
  std::ranges::sort(signals, {}, &Signal::at);
  const auto shm_before = left_files_in("/dev/shm");
  ProcessRanks ranks(n, [&](int rank, const auto& ready) { return work(rank, ready, milliseconds(latest)); });
  const auto start = ProcessRanks::Clock::now();
  for (const Signal& signal : signals) {
    std::this_thread::sleep_until(start + signal.at);
    ranks.signal(signal.rank, signal.number);
  }
  for (const auto& report : ranks.join(milliseconds(20'000))) EXPECT_EQ(report.text, "done") << transport;
  EXPECT_EQ(left_files_in("/dev/shm"), shm_before);
}

TEST(StopARank, NobodyCallsItDeadOverSharedMemory) { stop_many_times(10, "shm"); }
TEST(StopARank, NobodyCallsItDeadOverTcp) { stop_many_times(10, "tcp"); }

TEST(KillARank, SurvivorsNameItOverSharedMemory) { kill_many_times(120, "shm", true); }
TEST(KillARank, SurvivorsNameItOverTcp) { kill_many_times(40, "tcp", true); }
TEST(KillARank, SurvivorsNameItAlsoWhileTheyStillMeet) { kill_many_times(40, "auto", false); }

}  // namespace
}  // namespace dist::test
