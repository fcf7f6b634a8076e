// `distlab sim` as a person uses it.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "dist/core/error.h"

#include "distlab/plot.h"
#include "distlab/process.h"
#include "distlab/sim/sweep.h"
#include "support/expect_error.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;
using Words = std::vector<std::string>;

ProcessResult sim(Words arguments) {
  arguments.insert(arguments.begin(), {DISTLAB_PROGRAM, "sim"});
  return distlab::run_captured(arguments);
}

void expect_words(const ProcessResult& result, int exit_code, const Words& words) {
  EXPECT_EQ(result.exit_code, exit_code) << result.output;
  for (const auto& word : words)
    EXPECT_NE(result.output.find(word), std::string::npos) << word << " is not in:\n" << result.output;
}

// One line, exit code 2, and these words.
void expect_refusal(const Words& arguments, const Words& words) {
  const auto result = sim(arguments);
  expect_words(result, 2, words);
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  EXPECT_EQ(result.output.find("distlab: "), 0u) << result.output;
}

class SimFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-sim-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path folder_;
};

}  // namespace

TEST(SimTable, HasARowForEachAlgorithm) {
  expect_words(sim({"-n", "8"}), 0,
               {"all_reduce on laptop", "ring", "tree", "recursive_doubling", "reduce_broadcast"});
  expect_words(sim({"-n", "8", "-t", "summit"}), 0, {"sharp"});
  EXPECT_EQ(sim({"-n", "8"}).output.find("sharp"), std::string::npos) << "a laptop has no switches";
  for (const char* collective :
       {"broadcast", "reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all", "barrier"})
    expect_words(sim({collective, "-n", "1,3,8", "-b", "0,7,1KiB"}), 0, {collective});
}

TEST(SimTable, AsJson) {
  const auto result =
      sim({"all_reduce", "-a", "ring", "-n", "4", "-b", "1KiB", "--links", "--lose", "1@0us", "--json", "-"});
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json.at("ranks"), 4);
  EXPECT_EQ(json.at("failures").size(), 4u);
  EXPECT_EQ(json.at("failures")[0].at("rank"), 1);
  EXPECT_TRUE(json.at("links").empty()) << "no rank began";
  const auto well =
      nlohmann::json::parse(sim({"-a", "ring", "-n", "4", "-b", "1KiB", "--links", "--json", "-"}).output);
  EXPECT_FALSE(well.contains("failures"));
  ASSERT_EQ(well.at("links").size(), 4u);
  EXPECT_EQ(well.at("links")[0].at("bytes"), 6 * 256);
}

TEST(SimWhatIf, SlowsDown) {
  const auto seconds = [](const Words& more) {
    Words words{"-a", "ring", "-n", "4", "-b", "1MiB", "--json", "-"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(sim(words).output).at("virtual_time_s").get<double>();
  };
  const double usual = seconds({});
  EXPECT_GT(seconds({"--straggler", "3x2.5"}), usual * 1.1);
  EXPECT_GT(seconds({"--slow-link", "0-1x10"}), usual * 5);
  EXPECT_DOUBLE_EQ(seconds({"--slow-link", "0-2x10"}), usual) << "a ring does not use it";
  EXPECT_DOUBLE_EQ(seconds({"--straggler", "1x1,2x1"}), usual);
}

TEST(SimWhatIf, SaysWhoGotWhichError) {
  expect_words(sim({"-a", "ring", "-n", "6", "-b", "1MiB", "--lose", "2@100us"}), 0,
               {"rank 2 was lost at 100 us", "ranks 0, 1, 3-5: ring #0: rank 2 was lost at 100 us"});
}

TEST(SimLinks, NamesTheBusiest) {
  expect_words(sim({"broadcast", "-a", "flat", "-n", "3", "--links"}), 0,
               {"busiest links: 0 -> 1 (1 message, 4 B), 0 -> 2 (1 message, 4 B)"});
  expect_words(sim({"-a", "sharp", "-n", "12", "-t", "summit", "--links"}), 0,
               {"0 -> switch", "and 16 more"});
}

TEST(SimRefuses, WhatMakesNoSense) {
  expect_refusal({"-n", "0"}, {"0 ranks"});
  expect_refusal({"-n", "4,0"}, {"0 ranks"});  // before anything is simulated
  expect_refusal({"-n", "4", "-a", "rnig"}, {"no algorithm \"rnig\"", "ring"});
  expect_refusal({"-a", "sharp", "-t", "10gbe"}, {"10gbe", "switch_radix"});
  expect_refusal({"broadcast", "-a", "sharp", "-t", "summit"}, {"no algorithm \"sharp\""});
  expect_refusal({"-t", "sumit"}, {"'sumit'", "summit"});
  expect_refusal({"-t", "summit", "-n", "100000"}, {"27648 GPUs"});
  expect_refusal({"-t", "/no/such.json"}, {"/no/such.json", "cannot be read"});
  expect_refusal({"all_reduec"}, {"all_reduec", "all_reduce", "no lab", "./all_reduec"});
  expect_refusal({"all_reduce", "what"}, {"takes no arguments"});
  expect_refusal({"--straggler", "3"}, {"\"3\"", "3x2.5"});
  expect_refusal({"--straggler", "4x2"}, {"no rank 4", "0 to 3"});
  expect_refusal({"--straggler", "1x0.5"}, {"factor is 0.5"});
  expect_refusal({"--slow-link", "0-1"}, {"\"0-1\"", "0-1x10"});
  expect_refusal({"--slow-link", "2-2x3"}, {"two ends"});
  expect_refusal({"--lose", "2@100"}, {"\"2@100\"", "2@100us"});
  expect_refusal({"--lose", "9@1us"}, {"no rank 9"});
  expect_refusal({"--sweep", "ranks=2..8", "-n", "4"}, {"ranks are given twice"});
  expect_refusal({"--sweep", "bytes=2..8", "-b", "4"}, {"bytes are given twice"});
  expect_refusal({"--sweep", "nodes=2..8"}, {"\"nodes=2..8\"", "ranks and bytes"});
  expect_refusal({"--plot", "/tmp/x.svg"}, {"--plot needs several"});
  expect_refusal({"--plot", "/tmp/x.svg", "-b", "0,8"}, {"0 bytes"});
  EXPECT_EQ(sim({"-n", "many"}).exit_code, 2);
  expect_words(sim({"-b", "-4"}), 2, {"--bytes: \"-4\": it must not be negative"});
  expect_words(sim({"-b", "8EiB"}), 2, {"\"8EiB\": its unit must be"});
  expect_words(sim({"-b", "99999999999999999999"}), 2, {"too large"});
  expect_words(sim({"-a", ""}), 2, {"--algorithm: it must not be empty"});
  expect_words(sim({"--plot", "-"}), 2, {"--plot: name a file"});
  expect_words(sim({"./program", "--headline"}), 2, {"cannot be combined"});
  EXPECT_EQ(sim({"--lsoe", "2@1us"}).exit_code, 2);
}

TEST(SimHelp, HasExamples) {
  expect_words(sim({"--help"}), 0,
               {"Examples:", "--sweep", "--plot", "--straggler 3x2.5", "--slow-link", "--lose",
                "./distlab sim ./program -n 1024 -t summit", "./distlab sim 1"});
}

TEST(SimSweep, DoublesAndLists) {
  const auto both = distlab::parse_sweep("ranks=2..16,bytes=8..1KiB");
  EXPECT_EQ(both.ranks, (std::vector{2, 4, 8, 16}));
  EXPECT_EQ(both.bytes, (std::vector<std::uint64_t>{8, 16, 32, 64, 128, 256, 512, 1024}));
  const auto lists = distlab::parse_sweep("bytes=0,8,1MiB..4mib,3b,ranks=3,5..24");
  EXPECT_EQ(lists.bytes, (std::vector<std::uint64_t>{0, 8, 1 << 20, 2 << 20, 4 << 20, 3}));
  EXPECT_EQ(lists.ranks, (std::vector{3, 5, 10, 20, 24})) << "the end is always there";
  EXPECT_EQ(distlab::parse_sweep("ranks=7..7").ranks, (std::vector{7}));
  EXPECT_EQ(distlab::parse_sweep("bytes=1k,1kb,1GiB").bytes,
            (std::vector<std::uint64_t>{1024, 1024, 1 << 30}));
}

TEST(SimSweep, OddTextIsQuoted) {
  const auto refused = [](const std::string& text, const Words& words) {
    dist::test::expect_error(dist::Errc::invalid_argument, words, [&] { distlab::parse_sweep(text); });
  };
  refused("", {"\"\"", "ranks= or bytes="});
  refused("8", {"\"8\"", "ranks= or bytes="});
  refused("ranks=", {"it has no number"});
  refused("ranks=2..", {"\"2..\"", "it has no number"});
  refused("ranks=..8", {"\"..8\""});
  refused("ranks=2...8", {"\"2...8\""});
  refused("ranks=8..2", {"\"8..2\"", "its end is smaller"});
  refused("bytes=0..8", {"\"0..8\"", "1 or more"});
  refused("ranks=0", {"1 to 262144 ranks"});
  refused("ranks=2..2000000", {"1 to 262144 ranks"});
  refused("ranks=-2", {"\"-2\""});
  refused("bytes=8XiB", {"\"8XiB\"", "unit"});
  refused("bytes=8i", {"unit"});
  refused("bytes=99999999999999999999", {"too large"});
  refused("bytes=9223372036854775807KiB", {"too large"});
  refused("ranks=2,ranks=4", {"given twice"});
  refused("ranks=2,,4", {"it has no number"});
  refused("ranks=2,nodes=4", {"\"nodes=4\""});
}

TEST_F(SimFiles, ASweepDrawsALineForEachAlgorithmAndRankCount) {
  const auto plot = folder_ / "out.svg";
  expect_words(
      sim({"-a", "ring,tree", "--sweep", "ranks=2..8,bytes=8..64KiB", "-t", "summit", "--plot", plot}), 0,
      {"65536"});
  const std::string svg = text_of("out.svg");
  for (const char* part :
       {"<svg xmlns=", "<title", "all_reduce, simulated on summit", "bytes of the tensor", "virtual time",
        ">ring<", ">tree<", ">2 ranks<", ">8 ranks<", "32 KiB", "prefers-color-scheme:dark", "</svg>"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_EQ(svg.find("http", svg.find("http") + 1), std::string::npos)
      << "nothing from outside but the namespace";
  sim({"-a", "ring", "-n", "1,2,4,8", "--plot", plot});
  EXPECT_NE(text_of("out.svg").find("all_reduce of 4 B, simulated on laptop"), std::string::npos);
  EXPECT_NE(text_of("out.svg").find(">ranks<"), std::string::npos);
  EXPECT_EQ(text_of("out.svg").find("nan"), std::string::npos);
  sim({"all_gather", "-a", "ring", "-b", "64,1KiB", "--plot", plot});
  EXPECT_NE(text_of("out.svg").find(">bytes of the output, the parts of n ranks<"), std::string::npos);
}

TEST(SimPlot, EscapesAndKeepsItsPlace) {
  distlab::Plot plot{"a < b & \"c\"", {"x", distlab::Unit::count}, {"y", distlab::Unit::seconds}, {}};
  plot.lines.push_back({"only", "", {{3, 1e-6}}});  // one point: no range
  const std::string svg = distlab::to_svg(plot);
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(SimProgram, RunsOnAsManyRanksAsItAsksForOrOnOthers) {
  expect_words(sim({SIM_PROGRAM}), 0, {"the sum is 4", "simulated: 4 ranks on laptop"});
  expect_words(sim({SIM_PROGRAM, "-n", "256", "-t", "summit"}), 0,
               {"the sum is 256", "simulated: 256 ranks on summit"});
  expect_words(sim({"-n", "6", SIM_PROGRAM, "sum"}), 0, {"the sum is 6"});
  expect_words(sim({SIM_PROGRAM, "--links"}), 0, {"busiest links: "});
}

TEST(SimProgram, SaysWhatIsWrong) {
  expect_words(sim({SIM_PROGRAM, "throw"}), 1, {"main has caught: rank 2: out of paper"});
  expect_words(sim({SIM_PROGRAM, "deadlock"}), 1,
               {"D1 deadlock", "cycle: rank 0 -> rank 1 -> rank 0", "sim_program.cpp:"});
  expect_words(sim({SIM_PROGRAM, "global"}), 0,
               {"note: ranks 0, 1, 2, 3 change the global variable 'last_rank': virtual ranks share it"});
  expect_words(sim({SIM_PROGRAM, "--lose", "2@1us"}), 1, {"rank 2 was lost at 1 us", "rank 0: "});
}

TEST(SimProgram, ThatIsCutShortIsTold) {
  const dist::test::ScopedEnv by_the_signal("ASAN_OPTIONS", "handle_segv=0");  // not by a sanitizer's report
  for (const char* deed : {"crash", "raise"})
    expect_words(sim({SIM_PROGRAM, deed}), 1,
                 {"sim_program was ended by signal 11 (Segmentation fault); virtual ranks share global and "
                  "static variables"});
}

TEST(SimProgram, ThatNeverSpawnsIsTold) {
  const auto result = sim({SIM_PROGRAM, "nothing"});
  expect_words(result, 1, {"did not call dist::spawn()"});
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  expect_words(sim({SIM_PROGRAM, "--", "--option"}), 1, {"my own option", "did not call dist::spawn()"});
  const auto joins = sim({SIM_PROGRAM, "join"});
  expect_words(joins, 1,
               {"init_process_group at sim_program.cpp", "dist::spawn(n, rank_main)",
                "sim_program ended with exit code 1 before its simulation was complete"});
  EXPECT_EQ(std::count(joins.output.begin(), joins.output.end(), '\n'), 2) << joins.output;
  const dist::test::ScopedEnv only_that("ASAN_OPTIONS",
                                        "detect_leaks=0");  // exit() in a rank unwinds nothing
  expect_words(sim({SIM_PROGRAM, "exit"}), 1,
               {"rank 2 called exit(0) before its function had returned",
                "ended with exit code 70 before its simulation was complete"});
}

TEST(SimProgram, IsExploredUntilItGoesWrong) {
  expect_words(sim({SIM_PROGRAM, "order"}), 0, {"simulated: 4 ranks"});
  for (const char* how : {"200", "all"}) {
    const auto result = sim({SIM_PROGRAM, "order", "--explore", how});
    expect_words(result, 1, {"goes wrong", "rank 0: took the order for granted"});
    const auto begin = result.output.find("seed ") + 5;
    const std::string seed = result.output.substr(begin, result.output.find(' ', begin) - begin);
    expect_words(sim({SIM_PROGRAM, "order", "--seed", seed}), 1, {"rank 0: took the order for granted"});
  }
  expect_words(sim({SIM_PROGRAM, "--explore", "5"}), 0, {"no finding in 5 schedules; there are more"});
}

TEST_F(SimFiles, ARunLeavesItsTrace) {
  const std::string file = folder_ / "ring.json";
  expect_words(sim({"-a", "ring", "-n", "3", "-b", "12KiB", "--trace", file}), 0,
               {"the events of 12 messages"});
  const auto picture = distlab::run_captured({DISTLAB_PROGRAM, "trace", file});
  expect_words(picture, 0, {"all_reduce by ring, 3 ranks on laptop", "{0-2} 4 KiB"});
  const auto named_twice =
      distlab::run_captured({DISTLAB_PROGRAM, "trace", file, folder_ / "." / "ring.json"});
  EXPECT_EQ(named_twice.output, picture.output);
  for (const char* collective :
       {"broadcast", "reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all", "barrier"})
    expect_words(sim({collective, "-n", "3", "-b", "100", "--trace", file}), 0, {"the events of "});
  expect_words(sim({SIM_PROGRAM, "--trace", file}), 0, {"the sum is 4"});
  expect_words(distlab::run_captured({DISTLAB_PROGRAM, "trace", file}), 0,
               {"4 ranks on laptop", "all_reduce"});
  expect_refusal({"-n", "65", "--trace", file}, {"--trace shows at most 64 ranks, not 65"});
  expect_refusal({"-n", "2,4", "--trace", file}, {"--trace is for one run"});
  expect_refusal({"-a", "nope", "--trace", file}, {"nope"});
  expect_refusal({"-a", "sharp", "-t", "dgx-h100-ndr", "-n", "64", "--trace", file}, {"leave out --trace"});
}

TEST_F(SimFiles, WithoutAReaderNothingIsLeft) {
  for (const char* script :
       {"TMPDIR=$1 \"$2\" sim \"$3\" | true", "TMPDIR=$1 \"$2\" sim \"$3\" crash 2>&1 | true"})
    EXPECT_EQ(distlab::run_captured({"sh", "-c", script, "sh", folder_, DISTLAB_PROGRAM, SIM_PROGRAM}).output,
              "");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SimFiles, AFileThatCannotBeWrittenIsToldFirst) {
  for (const char* option : {"--json", "--plot", "--trace"}) {
    const auto said = sim({"-n", "2,4", option, folder_ / "none/file"});
    expect_words(said, 1, {std::string("distlab: ") + option, "there is no folder", "mkdir -p"});
    EXPECT_EQ(std::count(said.output.begin(), said.output.end(), '\n'), 1) << said.output;
  }
}

TEST(SimProgram, OddRequestsAreRefused) {
  expect_refusal({"--seed", "3"}, {"--seed and --explore are for a program"});
  expect_refusal({SIM_PROGRAM, "--seed", "x"}, {"\"x\": it must be a number"});
  expect_refusal({SIM_PROGRAM, "--explore", "0"}, {"\"--explore=0\": \"0\" is not a number of schedules"});
  expect_refusal({SIM_PROGRAM, "--explore", "3", "--seed", "3"}, {"leave out --seed"});
  expect_words(sim({"./no-such-program"}), 3, {"./no-such-program is not a program"});
  expect_words(sim({"/tmp"}), 3, {"/tmp is not a program"});
  expect_refusal({SIM_PROGRAM, "-n", "2,4"}, {"one number of ranks"});
  expect_refusal({SIM_PROGRAM, "-n", "0"}, {"--ranks=0"});
  expect_refusal({SIM_PROGRAM, "-b", "8"}, {"--bytes is for a collective"});
  expect_refusal({SIM_PROGRAM, "-a", "ring"}, {"--algorithm is for a collective"});
  expect_refusal({SIM_PROGRAM, "--sweep", "ranks=2..4"}, {"--sweep is for a collective"});
  expect_refusal({SIM_PROGRAM, "--json", "-"}, {"--json is for a collective"});
  expect_refusal({SIM_PROGRAM, "-t", "nowhere"}, {"'nowhere'"});
  expect_refusal({SIM_PROGRAM, "--straggler", "x"}, {"\"x\""});
  expect_refusal({SIM_PROGRAM, "-n", "4", "--straggler", "9x2"}, {"no rank 9", "0 to 3"});
  expect_refusal({SIM_PROGRAM, "-n", "4", "--lose", "9@5us"}, {"loss of rank 9: there is no rank 9"});
  expect_refusal({SIM_PROGRAM, "-n", "2000000"}, {"2000000 ranks", "from 1 to 262144"});
  expect_refusal({SIM_PROGRAM, "-n", "100000", "-t", "summit"}, {"27648 GPUs"});
}

TEST(SimLab, WithoutItsDemoSaysHowToBuildIt) {
  setenv("DISTLAB_ROOT", CHECKOUT, 1);
  setenv("DISTLAB_BUILD", "/no/such/build", 1);
  expect_words(sim({"1"}), 3, {"lab_01_demo is not built"});
  expect_refusal({"99"}, {"\"99\"", "no lab"});
  unsetenv("DISTLAB_ROOT");
  unsetenv("DISTLAB_BUILD");
}
