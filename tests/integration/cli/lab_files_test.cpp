// distlab start, solution, submit, reset, list: in a checkout of our own with one lab.
#include <filesystem>

#include <gtest/gtest.h>

#include "distlab/process.h"
#include "small_checkout.h"

namespace {

namespace fs = std::filesystem;

using LabFiles = SmallCheckout;

TEST_F(LabFiles, StartNamesWhatToReadAndTheFirstThingToWrite) {
  const auto said = run({"start", "1"});
  EXPECT_TRUE(contains(said, "read   labs/01_first/README.md")) << said;
  EXPECT_TRUE(contains(said, "first  lab 01, step 1: f\n         labs/01_first/first.cpp:2\n")) << said;
  run({"start", "7"}, 2);
}

TEST_F(LabFiles, TheSolutionIsForThoseWhoHaveOne) {
  EXPECT_TRUE(contains(run({"solution", "1"}, 1), "--spoil"));
  EXPECT_TRUE(contains(run({"solution", "1", "--spoil"}), "return 4"));
  write(".distlab/progress", "# lab best last when\n01_first 100 20 2026-11-21 20:31\nnonsense\n");
  EXPECT_TRUE(contains(run({"solution", "first"}), "return 4"));
  EXPECT_TRUE(contains(run({"list"}), "100 of 100"));
}

TEST_F(LabFiles, SubmitPacksExactlyTheFile) {
  write("labs/01_first/notes.txt", "mine");
  const auto zip = root / "hand in.zip";
  EXPECT_TRUE(contains(run({"submit", "1", "-o", zip}), "Not everything is written yet"));
  const auto listed = distlab::run_captured({"cmake", "-E", "tar", "tf", zip});
  EXPECT_EQ(listed.output, file + "\n");
}

TEST_F(LabFiles, ResetKeepsWhatWasWritten) {
  const auto starter = read(file);
  write(file, "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}), ".distlab/first.cpp.1"));
  EXPECT_EQ(read(file), starter);
  EXPECT_EQ(read(".distlab/first.cpp.1"), "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}), "untouched"));
  write(file, "int f() { return 6; }\n");
  sh("git -c user.name=t -c user.email=t@t commit -qam mine");
  run({"reset", "1"});
  EXPECT_EQ(read(file), starter);
  EXPECT_EQ(read(".distlab/first.cpp.2"), "int f() { return 6; }\n");
}

TEST_F(LabFiles, ResetWithoutAHistorySaysWhatToDo) {
  fs::remove_all(root / ".git");
  write(file, "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}, 3), "fresh clone"));
  EXPECT_EQ(read(file), "int f() { return 5; }\n");
}

}  // namespace
