// `distlab bench ddp` as a person uses it, with as little to measure as possible.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "expect_output.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

ProcessResult bench_ddp(const Words& more,
                        const std::string& environment = "DISTLAB_PYTHON=/usr/bin/python3") {
  Words words{"env",     environment, DISTLAB_PROGRAM, "bench", "ddp", "--batch-size", "4",
              "--iters", "2",         "--repeat",      "2"};
  words.insert(words.end(), more.begin(), more.end());
  return distlab::run_captured(words);
}

void expect_figures(const Json& row, int ranks) {
  EXPECT_EQ(row["ranks"], ranks);
  EXPECT_EQ(row["batch_size"], 4);
  EXPECT_EQ(row["steps"], 2);
  for (const char* time : {"step_ms", "compute_ms", "communication_ms", "exposed_ms"})
    EXPECT_GT(row[time].get<double>(), 0) << time;
  EXPECT_LT(row["exposed_ms"].get<double>(), row["step_ms"].get<double>());
  EXPECT_NEAR(row["images_per_s"].get<double>(), 4000 * ranks / row["step_ms"].get<double>(), 1e-3);
}

// A program instead of Python with torch; `answers` is its reply to each number of steps.
class DdpBench : public testing::Test {
 protected:
  std::string python_that(const std::string& answers) const {
    const fs::path file = folder_.path() / "python";
    std::ofstream(file) << "#!/bin/sh\ncase \"$2\" in\n'import torch'*) printf 'PyTorch 0.0' ;;\n"
                        << "*) while read -r steps; do " << answers << "; done ;;\nesac\n";
    fs::permissions(file, fs::perms::owner_all);
    return "DISTLAB_PYTHON=" + file.string();
  }
  const distlab::TemporaryFolder folder_{"ddp-bench-test"};
};

TEST_F(DdpBench, SaysWhatAStepCostsOnOneTwoAndMoreRanks) {
  const fs::path json = folder_.path() / "rows.json", plot = folder_.path() / "plot.svg";
  const auto said = bench_ddp({"-n", "3", "--json", json, "--plot", plot});
  expect_output(said, 0, "ranks  step ms  compute     comm  exposed    bound  images/s  scaling\n");
  std::ifstream in(json);
  const Json rows = Json::parse(in);
  ASSERT_EQ(rows.size(), 3U);
  for (int i = 0; i < 3; ++i) expect_figures(rows[static_cast<std::size_t>(i)], i + 1);
  EXPECT_EQ(rows[0]["scaling"], 1);
  for (const char* field : {"peer", "peer_step_ms", "peer_images_per_s", "ratio", "peer_version"})
    EXPECT_TRUE(rows[0].at(field).is_null()) << field;
  EXPECT_GT(fs::file_size(plot), 1000U);
  const auto program = bench_ddp({"-n", "1", "--json", "-"});
  EXPECT_EQ(Json::parse(program.output).size(), 1U) << "JSON and nothing else";
}

TEST_F(DdpBench, ComparesWithTheSystemsPyTorch) {
  if (distlab::run_captured({"/usr/bin/python3", "-c", "import torch"}).exit_code != 0)
    GTEST_SKIP() << "/usr/bin/python3 has no torch: apt-get install python3-torch";
  const auto said = bench_ddp({"-n", "2", "--compare", "pytorch", "--json", "-"});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  const Json rows = Json::parse(said.output.substr(said.output.find('[')));
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_EQ(row["peer"], "pytorch");
    EXPECT_EQ(row["peer_version"].get<std::string>().find("PyTorch "), 0U);
    EXPECT_NEAR(row["ratio"].get<double>(), row["peer_step_ms"].get<double>() / row["step_ms"].get<double>(),
                1e-6);
  }
}

TEST_F(DdpBench, WhoComputesSomethingElseIsNotComparedWith) {
  expect_output(bench_ddp({"-n", "2", "--compare", "pytorch"}, python_that("echo 0.1 99")), 1,
                "after 5 steps PyTorch's loss on rank");
  expect_output(bench_ddp({"-n", "2", "--compare", "pytorch"}, python_that("exit 1")), 1,
                "PyTorch's process has ended");
}

TEST_F(DdpBench, InterruptedItLeavesNothing) {
  constexpr auto script = R"(cd "$0"; TMPDIR=$0 "$@" > /dev/null &
exec 2> /dev/null
until ls -d distlab-bench-ddp-*; do sleep 0.02; done > /dev/null
kill -TERM $!
wait $!
echo "code $?"
ls)";
  const auto ended = distlab::run_captured(
      {"sh", "-c", script, folder_.path(), DISTLAB_PROGRAM, "bench", "ddp", "-n", "2", "--iters", "1000"});
  EXPECT_EQ(ended.output, "code 143\n") << "128 + SIGTERM, and an empty folder";
}

TEST_F(DdpBench, SaysHowToGetPyTorch) {
  expect_output(bench_ddp({"--compare", "pytorch"}, "DISTLAB_PYTHON=/nowhere/python3"), 3,
                "/nowhere/python3 cannot import torch; apt-get install python3-torch");
}

TEST_F(DdpBench, RefusesWhatMakesNoSense) {
  expect_output(bench_ddp({"--compare", "mpi"}), 2,
                "--compare cannot be \"mpi\"; bench ddp compares only with pytorch");
  expect_output(bench_ddp({"-n", "1", "--plot", "x.svg"}), 2, "--plot needs several numbers of ranks");
  expect_output(bench_ddp({"--cut-graphs"}), 2, "--cut-graphs is for GPUs; add --device cuda");
  expect_output(bench_ddp({"--min", "4"}), 2, "--min");
  expect_output(bench_ddp({}, "DIST_SIM=topology=laptop"), 2, "DIST_SIM is set");
}

}  // namespace
