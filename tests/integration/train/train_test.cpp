// distlab train, with ranks that are processes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "distlab/process.h"
#include "integration/launchers/run_program.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;
using Arguments = std::vector<std::string>;

class Train : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-train-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A run of seconds, but for what `more` says: options with their values, and flags.
  static Arguments small(const Arguments& more) {
    Arguments all{DISTLAB_PROGRAM, "train"};
    const Arguments usual{"--nproc", "2", "--samples", "192", "--test-samples", "51", "--batch-size", "16"};
    for (std::size_t i = 0; i < usual.size(); i += 2) {
      if (std::ranges::find(more, usual[i]) == more.end()) all.insert(all.end(), {usual[i], usual[i + 1]});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Arguments with_environment(const std::string& variable, Arguments command) {
    command.insert(command.begin(), {"env", variable});
    return command;
  }
  static ProcessResult run(const Arguments& arguments) { return distlab::run_captured(arguments); }
  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }
  std::string in_folder(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
};

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", pid));
  return {std::istream_iterator<pid_t>(in), {}};
}

// "... accuracy 97.10 % (1942 of 2000) ...": 1942 of the last epoch; -1 when there is none.
int right_of(const std::string& output) {
  int right = -1;
  const std::regex said("accuracy +[0-9.]+ % \\(([0-9]+) of [0-9]+\\)");
  for (std::sregex_iterator found(output.begin(), output.end(), said), end; found != end; ++found)
    right = std::stoi((*found)[1]);
  return right;
}

}  // namespace

TEST_F(Train, LearnsAndCountsEveryTestImageOnce) {
  for (const char* ranks : {"1", "3"}) {  // 3 do not divide 100
    const auto said =
        run(small({"--nproc", ranks, "--samples", "1200", "--test-samples", "100", "--epochs", "1"}));
    EXPECT_EQ(said.exit_code, 0) << said.output;
    EXPECT_TRUE(contains(said.output, "of 100)")) << said.output;
    EXPECT_GT(right_of(said.output), 50) << said.output;  // guessing: 10
    EXPECT_TRUE(contains(said.output, "exposed communication")) << said.output;
  }
}

TEST_F(Train, AResumedRunEndsWithTheSameBits) {
  const auto same = [&](const std::string& ranks, const std::string& algorithm) {
    const auto whole = in_folder("whole"), parts = in_folder("parts");
    const auto run_to = [&](const std::string& epochs, const std::string& file) {
      return run(
          with_environment("DIST_ALGO=allreduce:" + algorithm,
                           small({"--nproc", ranks, "--epochs", epochs, "--checkpoint", file, "--resume"})));
    };
    EXPECT_EQ(run_to("3", whole).exit_code, 0);
    EXPECT_EQ(run_to("1", parts).exit_code, 0);
    EXPECT_NE(content(parts), content(whole));
    const auto resumed = run_to("3", parts);
    EXPECT_TRUE(contains(resumed.output, "going on after epoch 1")) << resumed.output;
    EXPECT_GT(content(whole).size(), 100'000U);
    EXPECT_TRUE(content(parts) == content(whole)) << ranks << " ranks, " << algorithm;
    fs::remove(whole);
    fs::remove(parts);
  };
  for (const char* ranks : {"1", "2", "3"}) same(ranks, "two_shot");
  same("3", "ring");  // whose order of adding depends on where in a bucket a gradient lies
}

TEST_F(Train, ResumeBeginsWhereThereIsNoCheckpointYet) {
  const auto file = in_folder("checkpoint");
  const auto said = run(small({"--epochs", "1", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "is not there yet: training begins")) << said.output;
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(Train, GoesOnOnlyWithARunOfTheSameKind) {
  const auto file = in_folder("checkpoint");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", file})).exit_code, 0);
  const auto other = run(small({"--epochs", "2", "--checkpoint", file, "--resume", "--batch-size", "8"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.output, "is of a run with batch_size = 16, this one has 8")) << other.output;
  const std::string whole = content(file);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, whole.size() / 2);
  const auto damaged = run(small({"--epochs", "2", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_TRUE(contains(damaged.output, file)) << damaged.output;
  EXPECT_TRUE(contains(run(small({"--resume"})).output, "--resume needs the --checkpoint FILE"));
}

TEST_F(Train, ALossThatIsNoNumberIsReportedWithRankAndStep) {
  const auto file = in_folder("checkpoint");
  const auto said = run(small({"--lr", "1e30", "--epochs", "1", "--checkpoint", file}));
  EXPECT_EQ(said.exit_code, 1) << said.output;
  EXPECT_TRUE(std::regex_search(said.output, std::regex("the loss of rank [01] at step [1-6] is (nan|inf)")))
      << said.output;
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Train, DrawsLossAndStepTimes) {
  const auto plots = folder_ / "deep" / "plots";
  ASSERT_EQ(run(small({"--epochs", "1", "--plot", plots})).exit_code, 0);
  EXPECT_TRUE(contains(content(plots / "loss.svg"), "loss of rank 0"));
  const std::string times = content(plots / "step_times.svg");
  for (const char* part : {"whole step", "forward", "backward", "exposed comm."})
    EXPECT_TRUE(contains(times, part)) << part;
}

TEST_F(Train, WritesATraceLikeEverythingElse) {
  const auto trace = in_folder("trace.json");
  ASSERT_EQ(run(with_environment("DIST_TRACE=" + trace, small({"--epochs", "1"}))).exit_code, 0);
  EXPECT_TRUE(contains(content(trace), "all_reduce"));
}

TEST_F(Train, UnderDistrunEveryProcessIsARankAndTheResultIsTheSame) {
  const auto spawned = in_folder("spawned"), launched = in_folder("launched");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", spawned})).exit_code, 0);
  Arguments command{DISTRUN_PROGRAM, "--nproc-per-node", "2"};
  for (const auto& argument : small({"--epochs", "1", "--checkpoint", launched})) command.push_back(argument);
  const auto said = run(command);
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(content(launched) == content(spawned));
}

TEST_F(Train, OneRankIsOneRank) {
  const auto refused = run(small({"--scheme", "single"}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.output, "--scheme single is for one rank, not for 2")) << refused.output;
  const auto file = in_folder("single"), ddp = in_folder("ddp");
  ASSERT_EQ(
      run(small({"--scheme", "single", "--nproc", "1", "--epochs", "1", "--checkpoint", file})).exit_code, 0);
  ASSERT_EQ(run(small({"--scheme", "ddp", "--nproc", "1", "--epochs", "1", "--checkpoint", ddp})).exit_code,
            0);
  EXPECT_TRUE(content(file) == content(ddp)) << "DDP of one rank is the model itself";
}

TEST_F(Train, AKilledRankIsStartedAgainAndNothingIsLost) {
  const auto whole = in_folder("whole"), file = in_folder("checkpoint");
  const Arguments longer{"--samples", "1600", "--epochs", "3", "--resume", "--checkpoint"};
  const auto train_into = [&](const std::string& checkpoint) {
    Arguments all = longer;
    all.push_back(checkpoint);
    return small(all);
  };
  ASSERT_EQ(run(train_into(whole)).exit_code, 0);
  Arguments command{DISTRUN_PROGRAM, "--nproc-per-node", "2", "--max-restarts", "1"};
  for (const auto& argument : train_into(file)) command.push_back(argument);
  dist_test::Running job(command);
  ASSERT_TRUE(job.wait_for_output("epoch 1 of 3", 100));
  const auto ranks = children_of(job.pid());
  ASSERT_GE(ranks.size(), 2U);
  ::kill(ranks.back(), SIGKILL);  // in epoch 2
  const auto ran = job.wait(200);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "going on after epoch ")) << ran.out << ran.err;
  EXPECT_TRUE(content(file) == content(whole));
}
