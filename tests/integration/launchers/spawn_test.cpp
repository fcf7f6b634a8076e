// spawn with processes: results, failures, and nothing left behind.
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/dist.h"

#include "run_program.h"
#include "shared_numbers.h"

namespace {

using dist::Errc;
using dist::Error;
using dist_test::is_gone_within;
using dist_test::SharedNumbers;

std::string failure_of(int n, const std::function<void(int)>& fn, const dist::SpawnOptions& options = {}) {
  try {
    dist::spawn(n, fn, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::peer_failed);
    return error.what();
  }
  return "no failure";
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class SpawnProcesses : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SpawnProcesses, testing::Values(1, 2, 3, 5, 8),
                         testing::PrintToStringParamName());

TEST_P(SpawnProcesses, EachRankRunsOnceInAProcessOfItsOwn) {
  const int n = GetParam();
  SharedNumbers pids;
  dist::spawn(n, [&](int rank) { pids[rank] += getpid(); });
  std::set<int> distinct{getpid()};
  for (int rank = 0; rank < n; ++rank) distinct.insert(pids[rank]);
  EXPECT_EQ(static_cast<int>(distinct.size()), n + 1);
}

TEST_P(SpawnProcesses, RanksFindTheirJob) {
  const int n = GetParam();
  SharedNumbers sums;
  dist::spawn(n, [&](int rank) {
    dist::init_process_group();
    auto t = dist::full({7}, rank + 1, dist::DType::i32);
    dist::all_reduce(t);
    sums[rank] = t.data<int>()[6];
    EXPECT_EQ(dist::get_local_rank(), rank);
  });  // without destroy_process_group: spawn leaves the job
  for (int rank = 0; rank < n; ++rank) EXPECT_EQ(sums[rank], n * (n + 1) / 2);
}

TEST(SpawnFailures, AnExceptionKeepsItsText) {
  EXPECT_EQ(failure_of(3,
                       [](int rank) {
                         if (rank == 2) throw std::runtime_error("bad batch");
                       }),
            "rank 2: bad batch");
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 1) throw Error(Errc::invalid_argument, "rank 1: told once");
                       }),
            "rank 1: told once");
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 0) throw 7;
                       }),
            "rank 0: threw something that is not a std::exception");
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 1) throw std::runtime_error("");
                       }),
            "rank 1: threw a std::exception without a text");
}

TEST(SpawnFailures, AreSeenWhereSigchldIsIgnored) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 1) _exit(7);
                       }),
            "rank 1 ended with exit code 7");
  EXPECT_EQ(signal(SIGCHLD, before), SIG_IGN);
}

TEST(SpawnFailures, LongAndManyLinedTextsArrive) {
  std::string text(20000, 'x');
  text += "\nsecond line";
  EXPECT_EQ(failure_of(2,
                       [&](int rank) {
                         if (rank == 1) throw std::runtime_error(text);
                       }),
            "rank 1: " + text);
}

TEST(SpawnFailures, ASignalAndAnExitCodeAreNamed) {
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 1) raise(SIGKILL);
                       }),
            "rank 1 was killed by signal 9 (Killed)");
  EXPECT_EQ(failure_of(2,
                       [](int rank) {
                         if (rank == 0) _exit(3);
                       }),
            "rank 0 ended with exit code 3");
}

TEST(SpawnFailures, TheRootCauseIsNamedNotItsConsequences) {
  for (const bool killed : {false, true}) {
    const std::string what = failure_of(4, [&](int rank) {
      dist::init_process_group();
      dist::barrier();
      if (rank == 2 && killed) raise(SIGKILL);
      if (rank == 2) throw std::runtime_error("the root");
      auto t = dist::ones({1000});
      dist::all_reduce(t);
    });
    EXPECT_EQ(what, killed ? "rank 2 was killed by signal 9 (Killed)" : "rank 2: the root");
  }
}

TEST(SpawnFailures, RanksThatWaitToJoinAreToldAtOnce) {
  SharedNumbers told;
  const double took = seconds([&] {
    const std::string what = failure_of(3, [&](int rank) {
      if (rank == 1) throw std::runtime_error("before joining");
      try {
        dist::init_process_group();
      } catch (const Error& error) {
        told[rank] = error.code() == Errc::peer_failed &&
                     std::string(error.what()).find("rank 1: before joining") != std::string::npos;
        throw;
      }
    });
    EXPECT_EQ(what, "rank 1: before joining");
  });
  EXPECT_EQ(told[0], 1);
  EXPECT_EQ(told[2], 1);
  EXPECT_LT(took, 3);
}

TEST(SpawnFailures, ARankThatEndsWithoutJoiningIsNotWaitedFor) {
  const double took = seconds([&] {
    const std::string what = failure_of(3, [&](int rank) {
      if (rank != 1) dist::init_process_group();
    });
    EXPECT_NE(what.find(": rank 1 has ended without calling it; every rank must"), std::string::npos) << what;
  });
  EXPECT_LT(took, 3);
}

TEST(SpawnFailures, ARankThatHangsIsKilledAfterTheGrace) {
  SharedNumbers pids;
  const double took = seconds([&] {
    EXPECT_EQ(failure_of(3,
                         [&](int rank) {
                           pids[rank] = getpid();
                           if (rank == 0) throw std::runtime_error("first");
                           for (;;) pause();
                         },
                         {.grace = std::chrono::milliseconds(300)}),
              "rank 0: first");
  });
  EXPECT_LT(took, 4);
  for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(is_gone_within(pids[rank], 0.1));
}

TEST(SpawnFailures, AFailureThatComesWithTheEndIsNotMissed) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(failure_of(2,
                         [](int rank) {
                           if (rank == 0) throw std::runtime_error("at once");
                           for (;;) pause();
                         },
                         {.grace = std::chrono::milliseconds(10)}),
              "rank 0: at once");
  }
}

TEST(SpawnFailures, WrongArgumentsAreRefused) {
  EXPECT_THROW(dist::spawn(0, [](int) {}), Error);
  EXPECT_THROW(dist::spawn(
                   -3, [](int) {}, dist::Ranks::threads),
               Error);
  EXPECT_THROW(dist::spawn(2, nullptr), Error);
}

TEST(SpawnTraces, NoZombieAndNoDescriptorIsLeft) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    dist::spawn(3, [](int) { dist::init_process_group(); });
    failure_of(3, [](int rank) {
      if (rank == 1) throw std::runtime_error("x");
    });
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(SpawnTraces, ChildrenInheritNoDescriptorOfTheirSiblings) {
  SharedNumbers counts;
  const int before = static_cast<int>(open_descriptors());
  dist::spawn(8, [&](int rank) { counts[rank] = static_cast<int>(open_descriptors()); });
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(counts[rank], before + 1) << rank;  // its report
}

std::atomic<int>* exits = nullptr;

TEST(SpawnTraces, ExitHandlersOfTheParentRunInTheParentOnly) {
  SharedNumbers numbers;
  const pid_t program = fork();
  if (program == 0) {
    exits = &numbers[0];
    std::atexit([] { ++*exits; });
    dist::spawn(3, [](int) {});
    std::exit(0);
  }
  ASSERT_EQ(waitpid(program, nullptr, 0), program);
  EXPECT_EQ(numbers[0], 1);
}

TEST(SpawnTraces, WhatIsPrintedAppearsOnce) {
  const std::string folder = dist_test::temporary_folder();
  const pid_t program = fork();
  if (program == 0) {
    if (std::freopen((folder + "/out").c_str(), "a", stdout) == nullptr) _exit(1);
    std::printf("before;");
    dist::spawn(2, [](int rank) { std::printf("rank %d;", rank); });
    std::printf("after");
    std::exit(0);
  }
  ASSERT_EQ(waitpid(program, nullptr, 0), program);
  const std::string text = dist_test::read_file(folder + "/out");
  EXPECT_TRUE(text == "before;rank 0;rank 1;after" || text == "before;rank 1;rank 0;after") << text;
  std::filesystem::remove_all(folder);
}

TEST(SpawnTraces, ChildrenDieWithTheirParent) {
  SharedNumbers pids;
  const pid_t parent = fork();
  if (parent == 0) {
    dist::spawn(3, [&](int rank) {
      pids[rank] = getpid();
      for (;;) pause();
    });
    _exit(0);
  }
  for (int i = 0; i < 500 && (pids[0] == 0 || pids[1] == 0 || pids[2] == 0); ++i) usleep(10000);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (int rank = 0; rank < 3; ++rank) {
    ASSERT_NE(pids[rank], 0);
    EXPECT_TRUE(is_gone_within(pids[rank], 2)) << rank;
  }
}

TEST(SpawnNested, ASpawnedRankMaySpawn) {
  SharedNumbers sum;
  dist::spawn(2, [&](int outer) {
    dist::init_process_group();
    dist::spawn(2, [&](int) {
      dist::init_process_group();
      auto t = dist::ones({1}, dist::DType::i32);
      dist::all_reduce(t);
      sum[outer] += t.data<int>()[0];
    });
    dist::barrier();  // the outer job is unharmed
  });
  EXPECT_EQ(sum[0], 4);
  EXPECT_EQ(sum[1], 4);
}

TEST(SpawnNested, RanksThatAreThreadsMaySpawnProcesses) {
  SharedNumbers worlds;
  dist::spawn(
      2,
      [&](int outer) {
        dist::spawn(3, [&](int rank) {
          dist::init_process_group();
          if (rank == 0) worlds[outer] = dist::get_world_size();
        });
      },
      dist::Ranks::threads);
  EXPECT_EQ(worlds[0], 3);
  EXPECT_EQ(worlds[1], 3);
}

// What torch.multiprocessing.spawn(join=False) does.
TEST(Spawn, InAThreadOfItsOwnLeavesTheCallerFree) {
  SharedNumbers numbers;
  auto ranks = std::async(std::launch::async, [&] {
    dist::spawn(3, [&](int rank) {
      dist::init_process_group();
      while (numbers[3] == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      auto t = dist::ones({1}, dist::DType::i32);
      dist::all_reduce(t);
      numbers[rank] = t.data<int>()[0];
    });
  });
  EXPECT_EQ(ranks.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  numbers[3] = 1;
  ranks.get();
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(numbers[rank], 3);
}

}  // namespace
