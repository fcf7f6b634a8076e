// ./distlab show: what a lecture shows is what ran.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/trace/recorder.h"

#include "distlab/file_text.h"
#include "distlab/process.h"

namespace {

using distlab::run_captured;

std::string shown(const std::string& scene) {
  const auto result = run_captured({DISTLAB_PROGRAM, "show", scene});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return result.output;
}

void expect_said(const std::string& output, const std::string& part) {
  EXPECT_NE(output.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << output;
}

TEST(Show, ListsItsScenes) {
  const auto result = run_captured({DISTLAB_PROGRAM, "show"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* scene : {"ring", "tree", "double-tree", "deadlock", "overlap", "scale", "ddp", "pipeline"})
    expect_said(result.output, std::string("./distlab show ") + scene);
}

TEST(Show, CountsWhatTheAlgorithmsSent) {
  expect_said(shown("ring"), "24 messages, 96 bytes in all, 24 bytes from the busiest rank; S = 16 bytes");
  expect_said(shown("tree"), "6 messages, 48 bytes in all, 24 bytes from the busiest rank; S = 8 bytes");
  expect_said(shown("double-tree"),
              "12 messages, 48 bytes in all, 16 bytes from the busiest rank; S = 8 bytes");
}

TEST(Show, NamesTheCycle) { expect_said(shown("deadlock"), "cycle: rank 0 -> rank 1 -> rank 2 -> rank 0"); }

TEST(Show, OverlapSavesTime) {
  const std::string output = shown("overlap");
  const auto milliseconds_after = [&](const std::string& title) {
    const auto at = output.find(title);
    EXPECT_NE(at, std::string::npos) << output;
    return std::stod(output.substr(at + title.size()));
  };
  EXPECT_LT(milliseconds_after("overlapping communication, "),
            0.8 * milliseconds_after("waiting for each bucket, "));
}

TEST(Show, WritesItsTrace) {
  const auto file = std::filesystem::path(testing::TempDir()) / "distlab-show-trace.json";
  const auto result = run_captured({DISTLAB_PROGRAM, "show", "ring", "--trace", file});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(dist::trace::read_file(file).ranks, 4);
  std::filesystem::remove(file);
}

TEST(Show, WritesAPageThatPlaysIt) {
  const auto file = std::filesystem::path(testing::TempDir()) / "distlab-show.html";
  const auto result = run_captured({DISTLAB_PROGRAM, "show", "deadlock", "--html", file});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  expect_said(distlab::text_of_file(file), "<html");
  std::filesystem::remove(file);
}

TEST(Show, ASceneThatDidNotHappenIsAFailure) {
  const auto result = run_captured({"env", "DIST_DEBUG=x", DISTLAB_PROGRAM, "show", "deadlock"});
  EXPECT_EQ(result.exit_code, 1);
  expect_said(result.output, "DIST_DEBUG=\"x\" is not known");
}

std::string pipeline(const std::vector<std::string>& options, int exit_code = 0) {
  std::vector<std::string> command{"env", "COLUMNS=100", DISTLAB_PROGRAM, "show", "pipeline"};
  command.insert(command.end(), options.begin(), options.end());
  const auto result = run_captured(command);
  EXPECT_EQ(result.exit_code, exit_code) << result.output;
  return result.output;
}

TEST(Show, APipelinesCostsAreThoseOfTheFormulas) {
  const std::string output = pipeline({});
  expect_said(output, "Pipeline schedule 1f1b: 4 ranks, 8 micro-batches");
  expect_said(output, "\nrank 3  ......F0B0  F1B1  F2B2  F3B3  F4B4  F5B5  F6B6  F7B7  ............\n");
  expect_said(output, "Total 33, of which each rank computes 24.");
  expect_said(output, "bubble    27.3 %                    27.3 %                    (p-1) / (m+p-1)");
  expect_said(output, "in flight 4 3 2 1                   4 3 2 1                   min(m, p-i)");
  expect_said(output, "  zb-h1                        27    11.1 %              4\n");
  expect_said(output, "this schedule would hang: deadlock:");
  expect_said(pipeline({"--schedule", "zb-h1"}), "held      4 4 4 4                   4 4 4 4 ");
  expect_said(pipeline({"--schedule", "interleaved", "-n", "2", "-m", "3", "--times", "4,4,4"}),
              "bubble    14.3 %                    14.3 %                    (p-1) / (mv+p-1)");
  expect_said(pipeline({"--latency", "1", "-m", "16"}), "The formulas leave out latency.");
}

TEST(Show, APipelinesListsAndPicture) {
  expect_said(pipeline({"-n", "2", "-m", "2", "--actions"}),
              "rank 0  F0 [F0>] F1 [F1> >B0] B0 [>B1] B1\n"
              "rank 1  [>F0] F0 B0 [B0> >F1] F1 B1 [B1>]\n");
  const auto file = std::filesystem::path(testing::TempDir()) / "distlab-pipeline.svg";
  expect_said(pipeline({"--svg", file}), "distlab-pipeline.svg: the timeline, for a browser");
  expect_said(distlab::text_of_file(file), "prefers-color-scheme:dark");
  std::filesystem::remove(file);
}

TEST(Show, WrongPipelinesAreRefused) {
  expect_said(pipeline({"--schedule", "2f2b"}, 2), "there is no schedule \"2f2b\"; take gpipe, 1f1b,");
  expect_said(pipeline({"--chunks", "2"}, 2),
              "schedule 1f1b has one chunk per rank; for 2 chunks take interleaved");
  expect_said(pipeline({"-n", "256", "-m", "1024"}, 2), "262144 forwards; at most 20000 are drawn");
  expect_said(pipeline({"--times", "1,2"}, 2), "--times");
  expect_said(pipeline({"--times", "1,0,1"}, 2), "0 is not greater than 0");
  expect_said(pipeline({"--latency", "-1"}, 2), "-1 is less than 0");
  const auto result = run_captured({DISTLAB_PROGRAM, "show", "--html", "x.html", "pipeline"});
  EXPECT_EQ(result.exit_code, 2) << result.output;
  EXPECT_FALSE(std::filesystem::exists("x.html"));
}

TEST(Show, AWrongSceneIsRefused) {
  const auto result = run_captured({DISTLAB_PROGRAM, "show", "rign"});
  EXPECT_EQ(result.exit_code, 2);
  expect_said(result.output, "there is no scene \"rign\"; did you mean \"ring\"?");
}

}  // namespace
