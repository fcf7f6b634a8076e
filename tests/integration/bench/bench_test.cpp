// `distlab bench` as a person uses it, with as little to measure as possible.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "distlab/build_info.h"
#include "distlab/process.h"
#include "support/expect_error.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

ProcessResult bench(Words arguments) {
  arguments.insert(arguments.begin(), {DISTLAB_PROGRAM, "bench"});
  return distlab::run_captured(arguments);
}

bool has_mpi() { return !distlab::build_info().mpi.empty() && !distlab::find_program("mpirun").empty(); }

void expect_words(const ProcessResult& result, int exit_code, const Words& words) {
  EXPECT_EQ(result.exit_code, exit_code) << result.output;
  for (const auto& word : words)
    EXPECT_NE(result.output.find(word), std::string::npos) << word << " is not in:\n" << result.output;
}

void expect_refusal(const Words& arguments, int exit_code, const Words& words) {
  const auto result = bench(arguments);
  expect_words(result, exit_code, words);
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
  EXPECT_EQ(result.output.find("distlab: "), 0U) << result.output;
}

class Bench : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-bench-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Measures three sizes on two ranks with very few calls, unless `more` says otherwise; returns the rows.
  Json rows(const std::string& collective, const Words& more = {}) {
    const std::string file = folder_ / (collective + ".json");
    Words words{collective, "--json", file};
    words.insert(words.end(), more.begin(), more.end());
    for (const auto& [option, value] :
         {std::pair("-n", "2"), std::pair("--min", "16"), std::pair("--max", "4KiB"),
          std::pair("--factor", "16"), std::pair("--iters", "3"), std::pair("--repeat", "2")}) {
      if (std::ranges::find(more, option) == more.end()) words.insert(words.end(), {option, value});
    }
    result_ = bench(words);
    EXPECT_EQ(result_.exit_code, 0) << result_.output;
    std::ifstream in(file);
    return Json::parse(in, nullptr, false);
  }

  fs::path folder_;
  ProcessResult result_;
};

class EveryCollective : public Bench, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, EveryCollective,
                         testing::Values("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter",
                                         "all_to_all", "scatter", "gather", "barrier", "send_recv"),
                         [](const auto& tried) { return tried.param; });

void expect_right(const Json& rows, const std::string& collective, bool has_peer) {
  ASSERT_TRUE(rows.is_array()) << collective;
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("collective"), collective);
    EXPECT_EQ(row.at("backend"), "host");
    EXPECT_EQ(row.at("ranks"), 2);
    EXPECT_EQ(row.at("cores"), std::thread::hardware_concurrency())
        << "even where mpirun binds each rank to one";
    EXPECT_EQ(row.at("wrong"), 0) << row;
    EXPECT_GT(row.at("time_us").get<double>(), 0) << row;
    EXPECT_GT(row.at("meeting_us").get<double>(), 0) << row;
    EXPECT_GT(row.at("percent_of_limit").get<double>(), 0) << row;
    if (!has_peer) {
      EXPECT_TRUE(row.at("ratio").is_null()) << row;
      continue;
    }
    EXPECT_EQ(row.at("peer"), "mpi");
    EXPECT_DOUBLE_EQ(row.at("ratio").get<double>() * row.at("time_us").get<double>(),
                     row.at("peer_time_us").get<double>());
  }
}

}  // namespace

TEST_P(EveryCollective, IsMeasuredAndRight) {
  const Json found = rows(GetParam());
  expect_right(found, GetParam(), false);
  const bool two_forms =
      GetParam().ends_with("gather") || GetParam() == "scatter" || GetParam() == "reduce_scatter";
  EXPECT_EQ(found.size(), GetParam() == "barrier" ? 1U : two_forms ? 6U : 3U);
  EXPECT_NE(result_.output.find(" wrong\n"), std::string::npos) << result_.output;
}

TEST_P(EveryCollective, IsComparedWithOpenMpi) {
  if (!has_mpi()) GTEST_SKIP() << "built without Open MPI, or no mpirun";
  expect_right(rows(GetParam(), {"--compare", "mpi"}), GetParam(), true);
  EXPECT_NE(result_.output.find("ratio to Open MPI"), std::string::npos) << result_.output;
  EXPECT_NE(result_.output.find("geometric mean"), std::string::npos) << result_.output;
}

TEST_F(Bench, TellsWhichAlgorithmRan) {
  for (const auto& row : rows("all_reduce", {"--algorithm", "ring"})) EXPECT_EQ(row.at("algorithm"), "ring");
  std::set<std::string> names;
  for (const auto& row : rows("broadcast", {"--all-algorithms"})) names.insert(row.at("algorithm"));
  EXPECT_TRUE(names.contains("flat") && names.contains("binomial") && names.contains("chain"));
}

TEST_F(Bench, EveryDtypeAndOpIsRight) {
  for (const char* dtype : {"u8", "i8", "i32", "i64", "f16", "bf16", "f64", "bool"})
    for (const auto& row : rows("all_reduce", {"--dtype", dtype, "--max", "16"}))
      EXPECT_EQ(row.at("wrong"), 0) << row;
  for (const char* op : {"avg", "product", "min", "max", "band", "bor", "bxor"})
    for (const auto& row : rows("reduce_scatter", {"--dtype", "i32", "--op", op, "--max", "16", "-n", "3"}))
      EXPECT_EQ(row.at("wrong"), 0) << row;
}

TEST_F(Bench, OtherRootsMemoryAndTransports) {
  for (const char* collective : {"broadcast", "gather", "scatter", "reduce"})
    for (const auto& row :
         rows(collective, {"--root", "2", "-n", "3", "--foreign", "--hot", "--max", "256"})) {
      EXPECT_EQ(row.at("wrong"), 0) << row;
      EXPECT_EQ(row.at("root"), 2);
      EXPECT_TRUE(row.at("foreign") && row.at("hot"));
    }
  const dist::test::ScopedEnv tcp("DIST_TRANSPORT", "tcp");
  for (const auto& row : rows("all_reduce")) EXPECT_EQ(row.at("transport"), "tcp");
  if (has_mpi()) expect_right(rows("all_reduce", {"--compare", "mpi"}), "all_reduce", true);
}

TEST_F(Bench, OpenMpiGivesTheSameForOtherRootsDtypesAndOps) {
  if (!has_mpi()) GTEST_SKIP() << "built without Open MPI, or no mpirun";
  const auto right = [&](const std::string& collective, Words more) {
    more.insert(more.end(), {"--compare", "mpi", "-n", "3", "--max", "256"});
    for (const auto& row : rows(collective, more)) {
      EXPECT_EQ(row.at("wrong"), 0) << row;
      EXPECT_GT(row.at("ratio").get<double>(), 0) << row;
    }
  };
  right("scatter", {"--root", "1", "--dtype", "bool"});
  right("gather", {"--root", "2", "--dtype", "bf16", "--foreign"});
  right("reduce", {"--root", "1", "--dtype", "i64", "--op", "product"});
  right("reduce_scatter", {"--dtype", "u8", "--op", "bxor"});
}

TEST_F(Bench, MpiAsTheBackend) {
  if (!has_mpi()) GTEST_SKIP() << "built without Open MPI, or no mpirun";
  for (const auto& row : rows("all_reduce", {"--backend", "mpi", "--hot"})) {
    EXPECT_EQ(row.at("backend"), "mpi");
    EXPECT_EQ(row.at("algorithm"), "mpi");
    EXPECT_EQ(row.at("wrong"), 0) << row;
  }
  // Here the other side initialises and finalises MPI, and its threads must take turns.
  for (const auto& row : rows("send_recv", {"--backend", "mpi", "--compare", "mpi", "--hot"})) {
    EXPECT_EQ(row.at("backend"), "mpi");
    EXPECT_EQ(row.at("peer"), "mpi");
    EXPECT_EQ(row.at("wrong"), 0) << row;
  }
}

TEST_F(Bench, DrawsAPlot) {
  rows("all_gather", {"--plot", folder_ / "out.svg"});
  std::ifstream in(folder_ / "out.svg");
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  for (const char* part : {"<svg", "all_gather f32 on 2 ranks", ">distlab<", ">limit<", ">in place<"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST_F(Bench, JsonAloneOnStandardOutput) {
  const auto result = bench({"barrier", "-n", "1", "--iters", "3", "--repeat", "1", "--json", "-"});
  EXPECT_EQ(Json::parse(result.output, nullptr, false).size(), 1U) << result.output;
}

TEST(BenchRefuses, WhatMakesNoSense) {
  expect_refusal({"all_reduec"}, 2, {"\"all_reduec\"", "all_reduce"});
  expect_refusal({"all_reduce", "-n", "2", "--root", "9"}, 2, {"--root is 9"});
  expect_refusal({"all_reduce", "-n", "2", "-a", "rnig"}, 2, {"no algorithm \"rnig\"", "ring"});
  expect_refusal({"all_reduce", "--dtype", "f31"}, 2, {"\"f31\"", "f32"});
  expect_refusal({"all_reduce", "--op", "band"}, 2, {"band is not defined for f32"});
  expect_refusal({"all_reduce", "--min", "2KiB", "--max", "1KiB"}, 2, {"--min is 2048"});
  expect_refusal({"all_reduce", "--backend", "hots"}, 2, {"\"hots\" does not exist", "host"});
  expect_refusal({"all_reduce", "--compare", "nccl"}, 3, {"nccl", "needs tensors on a GPU"});
  expect_refusal({"all_reduce", "--compare", "mpi", "--op", "avg"}, 3, {"MPI has no avg"});
  EXPECT_EQ(bench({"all_reduce", "--min", "many"}).exit_code, 2);
  expect_refusal({}, 2, {"which collective?", "./distlab bench all_reduce"});
  const dist::test::ScopedEnv simulated("DIST_SIM", "ranks=2");
  expect_refusal({"all_reduce"}, 2, {"DIST_SIM", "real ranks"});
}

TEST_F(Bench, AFileThatCannotBeWrittenIsToldBeforeAnythingIsMeasured) {
  const std::string nowhere = folder_ / "none/rows";
  expect_refusal({"all_reduce", "--json", nowhere}, 1,
                 {"--json " + nowhere + ": there is no folder", "make it: mkdir -p"});
  expect_refusal({"all_reduce", "--plot", folder_}, 1, {"is a folder; name a file in it"});
  expect_refusal({"ddp", "--json", nowhere}, 1, {"--json " + nowhere + ": there is no folder"});
}

TEST_F(Bench, WhatIsPrintedInVainIsNoSuccess) {
  const auto run = [](const std::string& script) {
    return distlab::run_captured({"sh", "-c", script, DISTLAB_PROGRAM, "bench", "barrier", "-n", "2",
                                  "--iters", "3", "--repeat", "1"});
  };
  const auto full = run("\"$0\" \"$@\" > /dev/full");
  expect_words(full, 1, {"standard output cannot be written: No space left on device"});
  EXPECT_EQ(run("{ \"$0\" \"$@\"; echo \"code $?\" >&2; } | true").output, "code 141\n") << "128 + SIGPIPE";
}

TEST(BenchRefuses, MpiWhereThereIsNone) {
  const std::string nowhere = "/no/such/folder";
  const dist::test::ScopedEnv path("PATH", nowhere);
  expect_refusal({"all_reduce", "--compare", "mpi"}, 3, {"--compare mpi: ", "apt-get install"});
  if (distlab::build_info().mpi.empty())
    return expect_refusal({"all_reduce", "--backend", "mpi"}, 3, {"no mpi backend"});
  expect_refusal({"all_reduce", "--backend", "mpi"}, 3, {"--backend mpi: ", "apt-get install"});
}

TEST(BenchHelp, HasExamples) {
  expect_words(bench({"--help"}), 0,
               {"Examples:", "--compare", "--all-algorithms", "--foreign", "nccl-tests"});
}
