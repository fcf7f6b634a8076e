// `distlab class handout`, from a checkout of our own with one lab, and what students can do in the tree that
// it makes.
#include <filesystem>

#include <gtest/gtest.h>

#include "distlab/class/leaks.h"
#include "integration/cli/small_checkout.h"

namespace {

namespace fs = std::filesystem;

constexpr auto solution = R"(#include "first.h"
int f() {
  const int theirs = ask_the_neighbour(3);
  const int mine = what_i_have_myself();
  return theirs + mine + all_the_others();
}
)";

class Handout : public SmallCheckout {
 protected:
  void SetUp() override {
    SmallCheckout::SetUp();
    write(
        "CMakePresets.json",
        R"({"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "build"}]})");
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\n");
    write("solutions/01_first/first.cpp", solution);
    write("solutions/01_first/TEACHING.md", "how to teach it\n");
    write("tests/grading/01_first/wrong_answers.cpp",
          "//// adds_nothing\n// Killed by: First.one\nint f() { return 6; }\n");
    write("tests/grading/01_first/test.cpp", "// the grader: adds_nothing\n");
    write("tests/grading/CONTRACTS.md", "| 1 | Returns the sum. | adds_nothing | First.one |\n");
    write("tests/grading/notes.md", "what is not on the list\n");
    write("tests/cheats/exits_early.cpp", "int f() { exit(0); }\n");
    write("slides/01_first/slides.md", "what is said\n");
    write("tests/README.md", "# tests\n\nwhat is where\n");
    fs::create_directories(root / "out");
    tree = root / "out/tree";
    sh("git add -A && git -c user.name=t -c user.email=t@t commit -qm all");
  }
  std::string handout(int exit_code = 0) { return run({"class", "handout", "-o", tree}, exit_code); }
  void go_there() const {
    setenv("DISTLAB_ROOT", tree.c_str(), 1);
    setenv("DISTLAB_BUILD", (tree / "build").c_str(), 1);
  }
  std::string there(const std::string& path) { return read("out/tree/" + path); }

  fs::path tree;  // what is made
};

TEST_F(Handout, HasNothingThatStudentsMustNotSee) {
  handout();
  for (const auto* absent :
       {"solutions", "tests/grading/01_first/wrong_answers.cpp", "tests/grading/CONTRACTS.md",
        "tests/grading/notes.md", "tests/cheats", "slides", ".git", "build", ".distlab"})
    EXPECT_FALSE(fs::exists(tree / absent)) << absent;
  EXPECT_EQ(there("tests/README.md"), "# tests\n\nwhat is where\n");
  for (const auto* present : {"labs/01_first/README.md", "CMakeLists.txt", "tests/grading/01_first/test.cpp"})
    EXPECT_TRUE(fs::exists(tree / present)) << present;
  EXPECT_TRUE(there("README.md").starts_with("# distlab: the labs of your course\n"));
  EXPECT_FALSE(fs::exists(root / "out/tree.unfinished"));
}

TEST_F(Handout, MayRepeatWhatTheSpecificationSays) {
  const std::string declared =
      "int ask_the_neighbour(int);\nint what_i_have_myself();\nint all_the_others();\n";
  for (const auto* name : {"labs/01_first/first.h", "tests/grading/01_first/wrong_answers.cpp"})
    write(name, declared);
  sh("git add -A");
  handout();
  EXPECT_EQ(there("labs/01_first/first.h"), declared);
}

// Grades, an autograder and whatever else belongs to no student.
class WhatLiesAbout : public Handout {
 protected:
  void SetUp() override {
    Handout::SetUp();
    for (const auto* name : {"class_lab_05/grades.csv", "autograder_lab_05.zip", "distlab_handout/README.md"})
      write(name, "not for students\n");
  }
  void expect_clean() {
    handout();
    for (const auto* absent : {"class_lab_05", "autograder_lab_05.zip", "distlab_handout"})
      EXPECT_FALSE(fs::exists(tree / absent)) << absent;
    EXPECT_TRUE(fs::exists(tree / "labs/01_first/README.md"));
  }
};

TEST_F(WhatLiesAbout, IsNotHandedOutWhoeverOwnsTheCheckout) {
  write("exam.txt", "questions\n");
  setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
  expect_clean();
  unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
  EXPECT_FALSE(fs::exists(tree / "exam.txt"));
}

TEST_F(WhatLiesAbout, IsNotHandedOutWithoutGit) {
  fs::remove_all(root / "out");
  fs::remove_all(root / ".git");
  tree = fs::path(root.string() + ".handout");
  expect_clean();
  fs::remove_all(tree);
}

TEST_F(WhatLiesAbout, IsToldWhenGitHasIt) {
  write("labs/01_first/autograder_lab_05.zip", "not for students\n");
  sh("git add labs");
  EXPECT_TRUE(contains(handout(1), "it contains labs/01_first/autograder_lab_05.zip"));
}

TEST_F(Handout, HasTheStarterThoughTheInstructorHasBegun) {
  const auto starter = read(file);
  write(file, solution);
  handout();
  EXPECT_EQ(there(file), starter);
}

TEST_F(Handout, ResetsWithoutAHistory) {
  handout();
  const auto starter = read(file);
  write("out/tree/" + file, "int f() { return 5; }\n");
  go_there();
  EXPECT_TRUE(contains(run({"reset", "1"}), "is the untouched file again"));
  EXPECT_EQ(there(file), starter);
  const auto said = run({"solution", "1", "--spoil"}, 3);
  EXPECT_EQ(run({"solution", "1"}, 3), said);
  EXPECT_TRUE(contains(said, "this checkout has no solutions")) << said;
  EXPECT_EQ(run({"gradescope", "build", "1", "-o", root / "out/auto.zip"}, 3), said);
  EXPECT_FALSE(fs::exists(root / "out/auto.zip"));
}

TEST_F(Handout, IsNotMadeWhenAFileHasPartOfASolution) {
  write("labs/01_first/demo.cpp",
        "void g() {\n    const int  theirs = ask_the_neighbour(3);\n\n\tconst int mine = "
        "what_i_have_myself();\n"
        "  // and\n  return theirs + mine + all_the_others();\n}\n");
  sh("git add -A");
  const auto said = handout(1);
  EXPECT_TRUE(contains(said, "labs/01_first/demo.cpp contains lines of solutions/01_first/first.cpp"))
      << said;
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_FALSE(fs::exists(root / "out/tree.unfinished"));
}

TEST_F(Handout, IsNotMadeWhenAPageNamesAWrongAnswer) {
  for (const std::string name : {"adds_nothing", "exits_early"}) {
    write("labs/01_first/README.md", "# Lab 01: the first\n\nnot `" + name + "`\n");
    sh("git add -A");
    const auto said = handout(1);
    EXPECT_TRUE(contains(said, "labs/01_first/README.md names " + name + ", a wrong answer or a cheat"))
        << said;
  }
  write("labs/01_first/README.md", "# Lab 01: the first\n");
  write("labs/01_first/exits_early.h", "");
  sh("git add -A");
  EXPECT_TRUE(contains(handout(1), "labs/01_first/exits_early.h names exits_early"));
}

TEST_F(Handout, ShowsTheOutputOfTheSolutionThatItHasNot) {
  write("labs/01_first/README.md",
        "# Lab 01: the first\n\n`./distlab run 1 --solution` shows:\n\n```\nrank 0: "
        "4\n```\n\n```\nmore\n```\n");
  sh("git add -A");
  handout();
  go_there();
  const auto said = run({"run", "1", "--solution"});
  EXPECT_TRUE(contains(said, "\nrank 0: 4\n")) << said;
  EXPECT_FALSE(contains(said, "more")) << said;
}

TEST_F(Handout, IsNotMadeWhenItCannotBeConfigured) {
  write("CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\nadd_subdirectory(solutions)\n");
  EXPECT_TRUE(contains(handout(1), "CMake cannot configure it"));
  EXPECT_FALSE(fs::exists(tree));
}

TEST_F(Handout, WritesOverNothing) {
  write("out/tree/mine.txt", "mine");
  EXPECT_TRUE(contains(handout(2), "already exists"));
  EXPECT_EQ(there("mine.txt"), "mine");
}

TEST_F(Handout, MayBeNamedAsAFolder) {
  tree += "/";
  handout();
  EXPECT_TRUE(fs::exists(tree / "labs/01_first/README.md"));
  EXPECT_FALSE(fs::exists(tree / ".unfinished"));
}

TEST_F(Handout, TakesNobodysUnfinishedFolderForItsOwn) {
  write("out/tree.unfinished/mine.txt", "mine");
  const auto said = handout(2);
  EXPECT_TRUE(contains(said, "out/tree.unfinished already exists; choose another -o")) << said;
  EXPECT_EQ(read("out/tree.unfinished/mine.txt"), "mine");
}

TEST_F(Handout, WhatTheStarterHasIsNoSecret) {
  write("starter.cpp", solution);
  write("public/copy.cpp", solution);
  EXPECT_EQ(distlab::find_leaks(root / "public", {root / "solutions/01_first/first.cpp"}, {}).size(), 1U);
  EXPECT_TRUE(
      distlab::find_leaks(root / "public", {root / "solutions/01_first/first.cpp"}, {root / "starter.cpp"})
          .empty());
}

}  // namespace
