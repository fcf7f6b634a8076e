// What the ranks that survive must do: they end within 2 s, with an error that names it.
#pragma once

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/process_ranks.h"

namespace dist::test {

inline void expect_all_name(int gone, const std::vector<ProcessRanks::Report>& reports,
                            ProcessRanks::Clock::time_point since) {
  for (int rank = 0; rank < static_cast<int>(reports.size()); ++rank) {
    if (rank == gone) continue;
    const auto& report = reports[static_cast<std::size_t>(rank)];
    EXPECT_EQ(report.signal, 0) << "rank " << rank;
    EXPECT_NE(report.text.find("rank " + std::to_string(gone)), std::string::npos)
        << "rank " << rank << ": " << report.text;
    EXPECT_LE(report.ended - since, std::chrono::seconds(2)) << report.text;
  }
}

// Kills ranks during `train(n, trial, ready)`, one in each trial.
template <class Train>
void kill_in_training(int trials, const Train& train) {
  using std::chrono::milliseconds;
  for (int trial = 0; trial < trials; ++trial) {
    const int n = 2 + trial % 3, victim = trial % n;
    SCOPED_TRACE("trial " + std::to_string(trial) + ", rank " + std::to_string(victim) + " of " +
                 std::to_string(n) + " killed");
    ProcessRanks ranks(n, [&](int, const auto& ready) { return train(n, trial, ready); });
    ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
    std::this_thread::sleep_for(std::chrono::microseconds(trial * 1237));
    ranks.kill(victim);
    const auto killed = ProcessRanks::Clock::now();
    expect_all_name(victim, ranks.join(milliseconds(10'000)), killed);
  }
}

// This process dies this many microseconds from now.
inline void die_after(std::chrono::microseconds time) {
  if (time.count() == 0) ::kill(getpid(), SIGKILL);
  std::thread([time] {
    std::this_thread::sleep_for(time);
    ::kill(getpid(), SIGKILL);
  }).detach();
}

}  // namespace dist::test
