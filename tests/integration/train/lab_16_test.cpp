// Lab 16's program, solved, however its ranks are started: the same weights.
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "distrun/machine.h"
#include "integration/launchers/run_program.h"

namespace {

namespace fs = std::filesystem;
using dist_test::Ran;
using dist_test::run_program;
using Arguments = std::vector<std::string>;

Arguments by_distrun(int ranks, const Arguments& more = {}) {
  Arguments all{DISTRUN_PROGRAM, "--nproc-per-node", fmt::to_string(ranks)};
  all.insert(all.end(), more.begin(), more.end());
  all.emplace_back(LAB_16);
  return all;
}

// What is typed on node 0 and on node 1, of one rank each.
std::array<Arguments, 2> on_two_nodes(const Arguments& more = {}) {
  const auto port = fmt::to_string(distrun::free_port());
  std::array<Arguments, 2> nodes;
  for (const int node : {0, 1}) {
    auto& command = nodes[static_cast<std::size_t>(node)];
    command = {DISTRUN_PROGRAM,
               "--nnodes",
               "2",
               "--node-rank",
               fmt::to_string(node),
               "--master-addr",
               "127.0.0.1",
               "--master-port",
               port,
               "--nproc-per-node",
               "1"};
    command.insert(command.end(), more.begin(), more.end());
    command.emplace_back(LAB_16);
  }
  return nodes;
}

Arguments by_mpirun(int ranks) {
  return {MPIRUN,
          "-n",
          fmt::to_string(ranks),
          "--allow-run-as-root",
          "--oversubscribe",
          "--mca",
          "btl_vader_single_copy_mechanism",
          "none",
          LAB_16};
}

// The checksums that the ranks' lines show.
std::multiset<std::string> weights_of(const std::string& output) {
  std::multiset<std::string> found;
  const std::regex line("rank [0-9]+ +weights ([0-9a-f]{8})");
  for (std::sregex_iterator at(output.begin(), output.end(), line), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

// All ranks have the same; returns it.
std::string expect_same(const Ran& ran, std::size_t ranks) {
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto weights = weights_of(ran.out);
  EXPECT_EQ(weights.size(), ranks) << ran.out << ran.err;
  if (weights.empty()) return "";
  EXPECT_EQ(weights.count(*weights.begin()), ranks) << ran.out;
  return *weights.begin();
}

Ran finished(const Arguments& command) { return dist_test::Running(command).wait(200); }

class Lab16 : public testing::Test {
 protected:
  Lab16() : folder_(dist_test::temporary_folder()) {}
  ~Lab16() override { fs::remove_all(folder_); }
  std::string file() const { return folder_ / "run.safetensors"; }
  bool file_appears() const {
    for (int tries = 0; tries < 2000 && !fs::exists(file()); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return fs::exists(file());
  }
  fs::path folder_;
};

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", pid));
  return {std::istream_iterator<pid_t>(in), {}};
}

}  // namespace

TEST_F(Lab16, UnderDistrunAndMpirunTheSameWeights) {
  const auto weights = expect_same(finished(by_distrun(2)), 2);
  if (std::string(MPIRUN).empty()) GTEST_SKIP() << "built without Open MPI";
  EXPECT_EQ(expect_same(finished(by_mpirun(2)), 2), weights);
}

TEST_F(Lab16, OneRankAndFour) {
  for (const int ranks : {1, 4}) expect_same(finished(by_distrun(ranks)), static_cast<std::size_t>(ranks));
}

TEST_F(Lab16, AKilledRankIsStartedAgainAndTheWeightsAreThoseOfARunThatWasNot) {
  auto whole = by_distrun(2), restarted = by_distrun(2, {"--max-restarts", "1"});
  whole.push_back(folder_ / "whole.safetensors");
  restarted.push_back(file());
  const auto weights = expect_same(finished(whole), 2);
  dist_test::Running job(restarted);
  ASSERT_TRUE(file_appears());
  const auto ranks = children_of(job.pid());
  ASSERT_GE(ranks.size(), 2U);
  ::kill(ranks.back(), SIGKILL);  // in epoch 1
  const auto ran = job.wait(200);
  EXPECT_EQ(expect_same(ran, 2), weights);
  EXPECT_EQ(ran.out.find("epoch 0 "), std::string::npos) << "it must go on, not begin: " << ran.out;
}

TEST_F(Lab16, TwoNodesOfOneRankHaveTheWeightsOfOneNodeOfTwo) {
  const auto nodes = on_two_nodes();
  dist_test::Running zero(nodes[0]), one(nodes[1]);
  const auto told = zero.wait(200), silent = one.wait(200);
  EXPECT_EQ(expect_same(told, 2), expect_same(finished(by_distrun(2)), 2));
  EXPECT_EQ(silent.code, 0) << silent.err;
  EXPECT_EQ(silent.out, "");  // rank 0 prints the results
}

TEST_F(Lab16, AKilledRankIsStartedAgainWithThoseOfTheOtherNode) {
  auto whole = by_distrun(2);
  whole.push_back(folder_ / "whole.safetensors");
  const auto weights = expect_same(finished(whole), 2);
  auto nodes = on_two_nodes({"--max-restarts", "1"});
  for (auto& command : nodes) command.push_back(file());
  dist_test::Running zero(nodes[0]), one(nodes[1]);
  ASSERT_TRUE(file_appears());
  const auto ranks = children_of(one.pid());
  ASSERT_FALSE(ranks.empty());
  ::kill(ranks.back(), SIGKILL);  // rank 1, in epoch 1
  const auto told = zero.wait(200), killed = one.wait(200);
  EXPECT_EQ(expect_same(told, 2), weights) << killed.err;
  EXPECT_EQ(killed.code, 0) << killed.err;
  EXPECT_EQ(told.out.find("epoch 0 "), std::string::npos) << "it must go on, not begin: " << told.out;
}

TEST_F(Lab16, AFinishedRunHasNothingLeftToDoUntilMoreEpochsAreAskedFor) {
  auto command = by_distrun(2);
  command.push_back(file());
  const auto weights = expect_same(finished(command), 2);
  const auto again = finished(command);
  EXPECT_EQ(expect_same(again, 2), weights);
  EXPECT_NE(again.out.find("nothing is left to do"), std::string::npos) << again.out;
  command.emplace_back("4");
  const auto more = finished(command);
  EXPECT_NE(expect_same(more, 2), weights);
  EXPECT_EQ(more.out.find("epoch 2 "), std::string::npos) << more.out;
  EXPECT_NE(more.out.find("epoch 3 "), std::string::npos) << more.out;
  command.back() = "many";
  const auto refused = finished(command);
  EXPECT_EQ(refused.code, 2) << refused.out << refused.err;
  EXPECT_NE(refused.out.find("[CHECKPOINT [EPOCHS]]"), std::string::npos) << refused.out;
}
