#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"

namespace {

using dist::Errc;
using dist::Error;
using dist::Ranks;

std::string failure_of(int n, const std::function<void(int)>& fn) {
  try {
    dist::spawn(n, fn, Ranks::threads);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::peer_failed);
    return error.what();
  }
  return "no failure";
}

class SpawnThreads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SpawnThreads, testing::Values(1, 2, 3, 5, 8),
                         testing::PrintToStringParamName());

TEST_P(SpawnThreads, EachRankHasAContextOfItsOwn) {
  const int n = GetParam();
  std::vector<int> seen(static_cast<std::size_t>(n), -1);
  dist::spawn(
      n,
      [&](int rank) {
        EXPECT_FALSE(dist::is_initialized());
        dist::init_process_group();
        EXPECT_EQ(dist::get_world_size(), n);
        seen[static_cast<std::size_t>(rank)] = dist::get_rank();
        dist::destroy_process_group();
        EXPECT_FALSE(dist::is_initialized());
      },
      Ranks::threads);
  for (int rank = 0; rank < n; ++rank) EXPECT_EQ(seen[static_cast<std::size_t>(rank)], rank);
  EXPECT_FALSE(dist::is_initialized());
}

TEST_P(SpawnThreads, CollectivesWorkAndLeavingIsDoneForThem) {
  const int n = GetParam();
  std::atomic<int> right{0};
  dist::spawn(
      n,
      [&](int rank) {
        dist::init_process_group();
        auto t = dist::full({1000}, rank + 1, dist::DType::i32);
        dist::all_reduce(t);
        if (t.data<int>()[999] == n * (n + 1) / 2) ++right;
      },
      Ranks::threads);
  EXPECT_EQ(right, n);
}

TEST(SpawnThreads, AnExceptionKeepsItsText) {
  EXPECT_EQ(failure_of(3,
                       [](int rank) {
                         if (rank == 2) throw std::runtime_error("bad batch");
                       }),
            "rank 2: bad batch");
}

TEST(SpawnThreads, TheRootCauseIsNamedAndTheOthersEndByThemselves) {
  std::atomic<int> told{0};
  EXPECT_EQ(failure_of(4,
                       [&](int rank) {
                         try {
                           dist::init_process_group();  // where some may still be when rank 2 has gone
                           if (rank == 2) throw std::runtime_error("the root");
                           auto t = dist::ones({1000});
                           dist::all_reduce(t);
                         } catch (const Error& error) {
                           EXPECT_NE(std::string(error.what()).find("rank 2"), std::string::npos)
                               << error.what();
                           ++told;
                           throw;
                         }
                       }),
            "rank 2: the root");
  EXPECT_EQ(told, 3);
}

TEST(SpawnThreads, RanksThatWaitToJoinAreTold) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(failure_of(3,
                       [&](int rank) {
                         if (rank == 1) throw std::runtime_error("before joining");
                         dist::init_process_group();
                       }),
            "rank 1: before joining");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(SpawnThreads, ARankThatEndsWithoutJoiningIsNotWaitedFor) {
  const std::string what = failure_of(3, [](int rank) {
    if (rank != 2) dist::init_process_group();
  });
  const auto* const told = std::getenv("DIST_SIM") ? "rank 2 ended already"
                                                   : ": rank 2 has ended without calling it; every "
                                                     "rank must";
  EXPECT_NE(what.find(told), std::string::npos) << what;
}

TEST(SpawnThreads, TwoJobsAtOnceDoNotMeet) {
  std::vector<std::thread> jobs;
  std::atomic<int> right{0};
  for (int job = 2; job <= 4; ++job) {
    jobs.emplace_back([&, job] {
      dist::spawn(
          job,
          [&](int) {
            dist::init_process_group();
            auto t = dist::ones({1}, dist::DType::i32);
            dist::all_reduce(t);
            if (t.data<int>()[0] == job) ++right;
          },
          Ranks::threads);
    });
  }
  for (auto& job : jobs) job.join();
  EXPECT_EQ(right, 2 + 3 + 4);
}

}  // namespace
