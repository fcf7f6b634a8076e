// What spawn and its ranks share with processes that they fork, or that started them.
#include <array>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/dist.h"

#include "shared_numbers.h"

namespace {

using dist_test::SharedNumbers;

// Runs `in_child` in a child of this process, and leaves true in `is_child` there; the child's status.
int status_of(const std::function<void()>& in_child, bool& is_child) {
  const pid_t child = fork();
  if (child == 0) return is_child = true, in_child(), 0;
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Rank 1 has three children; the test checks what they add up to, and how many ranks succeed.
struct Children {
  int returned, signalled, threw, good_ranks;
  std::string said;  // on stderr
};
Children with_forked_children(dist::Ranks as) {
  SharedNumbers seen;
  testing::internal::CaptureStderr();
  dist::spawn(
      2,
      [&](int rank) {
        dist::init_process_group({.timeout = std::chrono::seconds(30)});
        auto t = dist::ones({10});
        dist::all_reduce(t);
        bool is_child = false;
        const auto ways = std::array<std::function<void()>, 3>{
            [] {}, [] { raise(SIGUSR1); }, [] { throw std::runtime_error("from the child"); }};
        for (int way = 0; rank == 1 && way < 3; ++way) {
          seen[way] = status_of(ways[static_cast<std::size_t>(way)], is_child);
          if (is_child) return;
        }
        for (int i = 0; i < 10; ++i) dist::all_reduce(t, dist::ReduceOp::max);
        dist::destroy_process_group();
        ++seen[3];
      },
      as);
  return {seen[0], seen[1], seen[2], seen[3], testing::internal::GetCapturedStderr()};
}

// It has the rank's pipe, store and memory, and still is another process.
TEST(SpawnForks, AForkedChildIsNotItsRank) {
  for (const auto as : {dist::Ranks::processes, dist::Ranks::threads}) {
    const pid_t program = fork();  // ranks that are threads leave descriptors that other tests count
    if (program == 0) {
      const Children children = with_forked_children(as);
      EXPECT_EQ(children.returned, 0);
      EXPECT_EQ(children.signalled, 0);
      EXPECT_EQ(children.threw, 1 << 8);  // exit code 1
      EXPECT_EQ(children.good_ranks, 2);
      EXPECT_NE(children.said.find(", forked by rank 1: from the child\n"), std::string::npos)
          << children.said;
      EXPECT_EQ(children.said.find("SIGUSR1"), std::string::npos)
          << "the rank has dumped its flight record: " << children.said;
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    waitpid(program, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(SpawnForks, ClosedStandardStreamsAreNobodysNumbers) {
  SharedNumbers sum;
  const pid_t program = fork();
  if (program == 0) {
    for (const int stream : {0, 1, 2}) close(stream);
    dist::spawn(2, [&](int rank) {
      std::printf("to no one");
      std::fflush(stdout);
      dist::init_process_group();
      auto t = dist::full({1}, rank + 1, dist::DType::i32);
      dist::all_reduce(t);
      sum[rank] = t.data<int>()[0];
    });
    _exit(0);
  }
  int status = -1;
  waitpid(program, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum[0] + sum[1], 6);
}

}  // namespace
