// ./distlab show: what a lecture shows is what ran.
#include <filesystem>
#include <string>

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
  for (const char* scene : {"ring", "tree", "double-tree", "deadlock", "overlap", "scale", "ddp"})
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

TEST(Show, AWrongSceneIsRefused) {
  const auto result = run_captured({DISTLAB_PROGRAM, "show", "rign"});
  EXPECT_EQ(result.exit_code, 2);
  expect_said(result.output, "there is no scene \"rign\"; did you mean \"ring\"?");
}

}  // namespace
