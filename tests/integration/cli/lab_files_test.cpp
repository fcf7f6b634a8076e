// distlab start, solution, submit, reset, list: in a checkout of our own with one lab.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "distlab/process.h"

namespace {

namespace fs = std::filesystem;

class LabFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-files-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
    write("CMakePresets.json", "{}");
    write("lib/dist/dist.h", "");
    write("labs/01_first/README.md", "# Lab 01: the first\n");
    write(file, "// what to write\nint f() { DIST_TODO(\"lab 01, step 1: f\"); }\n");
    write("solutions/01_first/first.cpp", "int f() { return 4; }\n");
    sh("mkdir -p tests/grading build && sha256sum " + file + " > tests/grading/starters.sha256");
    sh("git init -q && git add -A && git -c user.name=t -c user.email=t@t commit -qm start");
    setenv("DISTLAB_ROOT", root.c_str(), 1);
    setenv("DISTLAB_BUILD", (root / "build").c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(root);
    unsetenv("DISTLAB_ROOT");
    unsetenv("DISTLAB_BUILD");
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  std::string read(const std::string& path) {
    std::ifstream text(root / path);
    return {std::istreambuf_iterator<char>(text), {}};
  }
  void sh(const std::string& command) {
    ASSERT_EQ(distlab::run_captured({"sh", "-c", "cd " + root.string() + " && " + command}).exit_code, 0)
        << command;
  }
  // Its output, when it ends so.
  std::string run(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), DISTLAB_PROGRAM);
    const auto result = distlab::run_captured(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    return result.output;
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const std::string file = "labs/01_first/first.cpp";
  fs::path root;
};

TEST_F(LabFiles, StartNamesWhatToReadAndTheFirstThingToWrite) {
  const auto said = run({"start", "1"});
  EXPECT_TRUE(contains(said, "read   labs/01_first/README.md")) << said;
  EXPECT_TRUE(contains(said, "labs/01_first/first.cpp:2: lab 01, step 1: f")) << said;
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
