// `distlab bench --explain` and `--calibrate`.
#include "distlab/bench/explain.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/collectives/algorithms.h"
#include "dist/collectives/cost/cost_model_file.h"
#include "dist/core/limits.h"

#include "distlab/process.h"
#include "support/expect_error.h"

namespace {

namespace fs = std::filesystem;
using namespace distlab::bench;
using dist::test::ScopedEnv;
using Words = std::vector<std::string>;

Plan plan_of(const std::string& what, int ranks) {
  distlab::BenchOptions options;
  options.what = what;
  options.ranks = ranks;
  return make_plan(options);
}

class Costs : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-costs-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_.emplace("DIST_COST_MODEL", (folder_ / "sub" / "costs.json").string());
  }
  void TearDown() override {
    file_.reset();
    fs::remove_all(folder_);
  }
  static distlab::ProcessResult bench(Words words) {
    words.insert(words.begin(), {DISTLAB_PROGRAM, "bench"});
    return distlab::run_captured(words);
  }
  static void expect_refusal(const Words& words, const std::string& part) {
    const auto result = bench(words);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  }
  fs::path folder_;
  std::optional<ScopedEnv> file_;
};

}  // namespace

TEST_F(Costs, ExplainNamesEveryAlgorithmAndMarksTheChosenOne) {
  for (const std::uint64_t bytes : {8ULL, 4ULL << 20}) {
    const dist::KnownCosts costs = dist::known_costs();
    const std::string text = explain(plan_of("all_reduce", 8), bytes, costs, 8);
    for (const auto& entry : dist::algorithms())
      if (entry.collective == dist::OpKind::all_reduce) {
        EXPECT_NE(text.find(' ' + std::string(entry.name) + ' '), std::string::npos) << entry.name << text;
      }
    const dist::World at{.ranks = 8, .nodes = 1, .peers_mapped = true};
    const auto choice = dist::choose(dist::OpKind::all_reduce, bytes, at, costs.model);
    EXPECT_NE(text.find("* " + std::string(choice.algorithm) + " "), std::string::npos) << text;
    EXPECT_NE(text.find(choice.reason.substr(0, 20)), std::string::npos) << text;
    EXPECT_NE(text.find("Default figures; to measure this machine: ./distlab bench --calibrate"),
              std::string::npos)
        << text;
  }
}

// Ranks that must wait for each other's turns synchronise as rarely as possible.
TEST_F(Costs, RanksThatOutnumberTheCoresChooseByWhatTurnsCost) {
  const dist::KnownCosts costs = dist::known_costs();
  const std::string apart = explain(plan_of("all_reduce", 4), 8192, costs, 4);
  EXPECT_NE(apart.find("* two_shot "), std::string::npos) << apart;
  const std::string together = explain(plan_of("all_reduce", 4), 8192, costs, 2);
  EXPECT_NE(together.find("4 ranks of one machine, which share 2 cores."), std::string::npos) << together;
  EXPECT_NE(together.find("* one_shot "), std::string::npos) << together;
  const auto run = bench({"all_reduce", "-n", std::to_string(dist::usable_cores() + 1), "--min", "8KiB",
                          "--max", "8KiB", "--repeat", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("one_shot"), std::string::npos) << run.output;
}

TEST_F(Costs, ExplainUsesTheSavedFigures) {
  dist::CostModel slow_messages;
  slow_messages.alpha = 1;
  dist::save_cost_model(slow_messages, dist::cost_model_path());
  const std::string text = explain(plan_of("broadcast", 8), 1 << 20, dist::known_costs(), 8);
  EXPECT_NE(text.find("Measured by --calibrate ("), std::string::npos) << text;
  EXPECT_NE(text.find("a message takes 1e+06 us"), std::string::npos) << text;
}

TEST_F(Costs, AreOthersWhereMessagesGoOverTcp) {
  const ScopedEnv tcp("DIST_TRANSPORT", "tcp");
  const dist::KnownCosts costs = dist::known_costs(true);
  EXPECT_EQ(costs.model, dist::tcp_costs());
  const std::string text = explain(plan_of("all_reduce", 2), 256 << 10, costs, 2);
  EXPECT_NE(text.find("* recursive_doubling "), std::string::npos) << text;
  EXPECT_NE(text.find("ranks cannot map each other's memory"), std::string::npos) << text;
  const auto run = bench({"all_reduce", "-n", "2", "--min", "256KiB", "--max", "256KiB", "--repeat", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("recursive_doubling"), std::string::npos) << run.output;
}

TEST_F(Costs, ACalibrationIsSavedAndUsed) {
  const auto result = bench({"--calibrate"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("Saved in "), std::string::npos) << result.output;
  const auto model = dist::load_cost_model(dist::cost_model_path());
  ASSERT_TRUE(model.has_value());
  EXPECT_GT(model->message(0), 1e-8) << "a message takes longer than 10 ns";
  EXPECT_LT(model->message(0), 0.1);
  EXPECT_GT(model->beta, 1e-12) << "and less than 1 TB/s go through a port";
  EXPECT_LT(model->beta, 1e-6);
  EXPECT_GT(model->gamma, 1e-12);
  EXPECT_GT(model->copy, 1e-12);
  const auto explained = bench({"all_reduce", "--explain", "4MiB", "-n", "8"});
  EXPECT_EQ(explained.exit_code, 0) << explained.output;
  EXPECT_NE(explained.output.find("all_reduce of 4194304 bytes on 8 ranks"), std::string::npos)
      << explained.output;
  EXPECT_NE(explained.output.find("Measured by --calibrate"), std::string::npos) << explained.output;
}

TEST_F(Costs, OddRequestsAreOneLine) {
  expect_refusal({"send_recv", "--explain", "8"}, "send_recv is a message");
  expect_refusal({"--explain", "8"}, "which collective?");
  expect_refusal({"all_reduce", "--calibrate"}, "leave out everything else");
  fs::create_directories(folder_ / "sub");
  std::ofstream(folder_ / "sub" / "costs.json") << "{\"alpha_us\": \"fast\"}";
  expect_refusal({"all_reduce", "--explain", "8"}, "alpha_us");
}
