// The same binary passes however its ranks are started.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_program.h"

namespace {

using dist_test::Ran;
using dist_test::run_program;
using dist_test::Running;

void expect_agreement(const Ran& ran, int n) {
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find(fmt::format("all {} ranks agree", n)), std::string::npos) << ran.out << ran.err;
}

class EveryLauncher : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EveryLauncher, testing::Values(1, 2, 4, 5),
                         testing::PrintToStringParamName());

TEST_P(EveryLauncher, Distrun) {
  expect_agreement(run_program({DISTRUN, "--nproc-per-node", fmt::to_string(GetParam()), SAME_PROGRAM}),
                   GetParam());
}

TEST_P(EveryLauncher, SpawnedProcesses) {
  expect_agreement(run_program({SAME_PROGRAM, "processes", fmt::to_string(GetParam())}), GetParam());
}

TEST_P(EveryLauncher, SpawnedThreads) {
  expect_agreement(run_program({SAME_PROGRAM, "threads", fmt::to_string(GetParam())}), GetParam());
}

TEST_P(EveryLauncher, Mpirun) {
  if (std::string(MPIRUN).empty()) GTEST_SKIP() << "built without Open MPI";
  expect_agreement(
      run_program({MPIRUN, "-n", fmt::to_string(GetParam()), "--allow-run-as-root", "--oversubscribe",
                   "--mca", "btl_vader_single_copy_mechanism", "none", SAME_PROGRAM}),
      GetParam());
}

// As torchrun leaves it, and as one would type it: two ranks, each with its variables.
void start_by_hand(const std::vector<std::string>& more) {
  const auto environment = [&](int rank) {
    std::vector<std::string> result{fmt::format("RANK={}", rank), "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1"};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  };
  Running first({SAME_PROGRAM}, environment(0)), second({SAME_PROGRAM}, environment(1));
  expect_agreement(first.wait(), 2);
  EXPECT_EQ(second.wait().code, 0);
}

TEST(ByHand, RankAndWorldSizeAlone) {
  start_by_hand({fmt::format("MASTER_PORT={}", 20000 + getpid() % 10000)});
}

TEST(ByHand, AsUnderTorchrun) {
  start_by_hand({fmt::format("MASTER_PORT={}", 30000 + getpid() % 10000), "LOCAL_WORLD_SIZE=2",
                 "GROUP_RANK=0", "ROLE_RANK=0", "TORCHELASTIC_RUN_ID=none",
                 "TORCHELASTIC_USE_AGENT_STORE=True", "TORCHELASTIC_RESTART_COUNT=0"});
}

// Without this check they would hang: each algorithm waits for messages that the other does not send.
TEST(ByHand, RanksThatNameDifferentAlgorithms) {
  const Ran ran = run_program({DISTRUN, "--nproc-per-node", "2", "sh", "-c",
                               "[ $RANK = 0 ] || export DIST_ALGO=all_reduce:ring; exec " SAME_PROGRAM});
  EXPECT_NE(ran.code, 0);
  EXPECT_NE(ran.err.find("DIST_ALGO=all_reduce:ring)"), std::string::npos) << ran.err;
}

}  // namespace
