// The parts of the learner's loop that need no process: pages of hints, progress, what the screen shows.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "distlab/columns.h"
#include "distlab/grading.h"
#include "distlab/loop/hint_page.h"
#include "distlab/loop/round_page.h"
#include "distlab/loop/screen.h"
#include "distlab/loop/watcher.h"
#include "distlab/progress.h"
#include "distlab/welcome.h"

namespace {

using namespace distlab;
using loop::section_for_part;

constexpr auto english = R"(# Lab 07, hints, level 1

Draw first.

**Part 1.** One.
Its second line.

**Parts 2 and 3.** Two.

```
code of two
```

**Part 12**
Twelve.
)";

TEST(HintPage, TheSectionOfAStepWithWhatIsForAll) {
  EXPECT_EQ(section_for_part(english, 1), "Draw first.\n\n**Part 1.** One.\nIts second line.\n");
  EXPECT_EQ(section_for_part(english, 12), "Draw first.\n\n**Part 12**\nTwelve.\n");
}

TEST(HintPage, OneSectionCanServeSeveralSteps) {
  const auto both = "Draw first.\n\n**Parts 2 and 3.** Two.\n\n```\ncode of two\n```\n";
  EXPECT_EQ(section_for_part(english, 2), both);
  EXPECT_EQ(section_for_part(english, 3), both);
}

TEST(HintPage, AStepThatIsNotThereHasNoSection) {
  EXPECT_FALSE(section_for_part(english, 4));
  EXPECT_FALSE(section_for_part("# A page\n\nwithout sections\n", 1));
  EXPECT_FALSE(section_for_part("", 1));
}

TEST(HintPage, ChineseHeadings) {
  const std::string page = distlab::loop::without_note_of_translation(
      "# 实验 04，提示\n\n**第 1 部分和第 2 部分。** 一。\n\n**第 3 部分。** 三。\n\n<!-- translates 3.md "
      "sha256:00 -->\n");
  EXPECT_EQ(section_for_part(page, 2), "**第 1 部分和第 2 部分。** 一。\n");
  EXPECT_EQ(section_for_part(page, 3), "**第 3 部分。** 三。\n");
  EXPECT_EQ(page.find("translates"), std::string::npos);
}

TEST(HintPage, BoldTextInALineIsNoHeading) {
  EXPECT_EQ(section_for_part("**Part 1.** A\n**not** a heading\nsee **Part 2**\n", 1),
            "**Part 1.** A\n**not** a heading\nsee **Part 2**\n");
}

TEST(HintPage, EveryPageOfEveryLabHasASectionForEveryPart) {
  int labs = 0;
  for (const auto& lab : std::filesystem::directory_iterator(std::string(CHECKOUT) + "/labs")) {
    if (!std::filesystem::exists(lab.path() / "hints")) continue;
    ++labs;
    const auto page = [&](const std::string& name) {
      std::ifstream file(lab.path() / "hints" / (name + ".md"));
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    int part = 1;
    for (; section_for_part(page("1"), part); ++part) {
      for (const char* name : {"2", "3", "1.zh-CN", "2.zh-CN", "3.zh-CN"})
        EXPECT_TRUE(section_for_part(page(name), part)) << lab.path() << " " << name << " part " << part;
    }
    EXPECT_GT(part, 3) << lab.path();
  }
  EXPECT_GE(labs, 7);
}

TEST(HintPage, ParagraphsTakeTheWidthOfTheTerminal) {
  EXPECT_EQ(loop::reflowed(
                "**Part 1.** one two\nthree four\n\n```\na = 1      // stays as it is\n\nb\n```\nend\n", 20),
            "**Part 1.** one two\nthree four\n\n```\na = 1      // stays as it is\n\nb\n```\nend\n");
  EXPECT_EQ(loop::reflowed("one\ntwo three\n", 40), "one two three\n");
  EXPECT_EQ(loop::reflowed("- a\n- b\n| t |\n| u |\n  in\n1. x\n", 40),
            "- a\n- b\n| t |\n| u |\n  in\n1. x\n");
  EXPECT_EQ(loop::reflowed("of node\n2's first one\n", 40), "of node 2's first one\n");
  EXPECT_EQ(loop::reflowed("", 40), "");
}

Grade two_tests(GradedTest::Result first, const std::string& misconception = "") {
  Grade grade;
  grade.seed = "17";
  grade.max_score = 100;
  grade.tests.resize(2);
  grade.tests[0].name = "Part1A.one";
  grade.tests[0].part = 1;
  grade.tests[0].max_points = 40;
  grade.tests[0].result = first;
  grade.tests[1].name = "Part2B.two_ranks";
  grade.tests[1].part = 2;
  grade.tests[1].points = grade.tests[1].max_points = 60;
  grade.tests[1].result = GradedTest::Result::passed;
  if (first == GradedTest::Result::passed) grade.tests[0].points = 40;
  if (!misconception.empty()) {
    grade.tests[0].misconception = misconception;
    grade.tests[0].explanation = "a sentence: with a colon\nin two lines";
  }
  grade.tests[0].messages = {"expected 4, got 5"};
  grade.score = grade.tests[0].points + 60;
  return grade;
}

Progress reread(const Progress& progress) {
  std::stringstream text;
  print_progress(text, progress);
  return parse_progress(text);
}

TEST(ProgressFile, KeepsWhatTheLastGradeSaid) {
  auto mine = after_grade({}, two_tests(GradedTest::Result::failed, "off_by_one"));
  mine.when = "2026-11-21 20:31";
  mine.hints = 2;
  const auto again = reread({{"01_first", mine}}).at("01_first");
  EXPECT_EQ(again.best, 60);
  EXPECT_EQ(again.when, "2026-11-21 20:31");
  EXPECT_EQ(again.seed, "17");
  EXPECT_EQ(again.failing, "Part1A.one");
  EXPECT_EQ(again.part, 1);
  EXPECT_EQ(again.misconception, "off_by_one");
  EXPECT_EQ(again.explanation, "a sentence: with a colon in two lines");
  EXPECT_EQ(again.hints, 2);
}

TEST(ProgressFile, HintsWithoutAGradeAreNoGrade) {
  LabProgress mine;
  mine.hints = 1;
  const auto again = reread({{"01_first", mine}}).at("01_first");
  EXPECT_FALSE(again.is_graded());
  EXPECT_EQ(again.hints, 1);
}

TEST(ProgressFile, LinesThatAreNoneAreSkipped) {
  std::istringstream text(
      "# lab best last when\n    hints 3\n01_first 100 20 2026-11-21 20:31\n    part many\n    seed 17x\n    "
      "hints -4\n"
      "    nonsense\n    \n\nnonsense\n    hints 2\n02_second 1\n\x01\xff\n03_third 7 8 2026-11-21 20:32\n   "
      " seed\n");
  const auto progress = parse_progress(text);
  ASSERT_EQ(progress.size(), 2U);
  EXPECT_EQ(progress.at("01_first").best, 100);
  EXPECT_EQ(progress.at("01_first").part, 0);
  EXPECT_EQ(progress.at("01_first").hints, 0) << "a negative number, and those of lines that name no lab";
  EXPECT_EQ(progress.at("01_first").seed, "") << "no number";
  EXPECT_EQ(progress.at("03_third").last, 8);
}

TEST(ProgressFile, TheHintsBeginAnewWhenSomethingElseFails) {
  auto mine = after_grade({}, two_tests(GradedTest::Result::failed, "off_by_one"));
  mine.when = "2026-11-21 20:31";
  mine.hints = 2;
  EXPECT_EQ(after_grade(mine, two_tests(GradedTest::Result::failed, "off_by_one")).hints, 2);
  EXPECT_EQ(after_grade(mine, two_tests(GradedTest::Result::failed, "wrong_root")).hints, 0);
  EXPECT_EQ(after_grade(mine, two_tests(GradedTest::Result::failed)).hints, 0);
  const auto solved = after_grade(mine, two_tests(GradedTest::Result::passed));
  EXPECT_EQ(solved.hints, 0);
  EXPECT_EQ(solved.failing, "");
  EXPECT_TRUE(solved.is_solved());
}

TEST(RoundPage, TheVerdictThenTheFirstFailureThenTheRest) {
  const auto page = loop::grade_page("Lab 01", two_tests(GradedTest::Result::failed, "off_by_one"), 60);
  const auto verdict = page.find("60 of 100"), failure = page.find("part 1: one"),
             message = page.find("expected 4, got 5"), diagnosis = page.find("Perhaps: a sentence"),
             rest = page.find("part 2  ✓");
  EXPECT_EQ(verdict, 0U) << page;
  EXPECT_LT(verdict, failure) << page;
  EXPECT_LT(failure, message) << page;
  EXPECT_LT(message, diagnosis) << page;
  EXPECT_LT(diagnosis, rest) << page;
  EXPECT_NE(rest, page.npos) << page;
}

TEST(RoundPage, ShowsWhatWouldCommandTheTerminal) {
  auto grade = two_tests(GradedTest::Result::failed, "off_by_one");
  grade.tests[0].messages = {"a\033[2Jb"};
  const auto page = loop::grade_page("Lab 01", grade, 60);
  EXPECT_NE(page.find("a\\x1b[2Jb"), page.npos) << page;
}

TEST(RoundPage, FitsIntoANarrowTerminal) {
  auto grade = two_tests(GradedTest::Result::failed, "off_by_one");
  grade.tests[0].messages = {"a message that is much longer than forty columns and goes on and on\nand on"};
  std::istringstream page(loop::grade_page("Lab 01", grade, 40));
  for (std::string line; std::getline(page, line);) EXPECT_LE(distlab::columns_of(line), 40) << line;
}

TEST(Screen, ColoursTakeNoColumns) {
  EXPECT_EQ(distlab::columns_of("\033[1mab\033[0m✓\033[K"), 3);
  EXPECT_EQ(distlab::columns_of(""), 0);
  EXPECT_EQ(distlab::columns_of("\033["), 0);
}

TEST(Screen, CropsToTheRowsThatLinesTake) {
  const std::vector<std::string> lines{"one", "12345678901", "three"};  // the second takes two rows of ten
  EXPECT_EQ(loop::cropped(lines, 10, 4, "more"), lines);
  EXPECT_EQ(loop::cropped(lines, 10, 3, "more"), (std::vector<std::string>{"one", "more"}));
  EXPECT_EQ(loop::cropped(lines, 10, 1, "more"), (std::vector<std::string>{"more"}));
  EXPECT_EQ(loop::cropped(lines, 3, 1, "more"), (std::vector<std::string>{"mor"}));
}

TEST(Screen, TheStatusLineSaysWhatItCanInItsColumns) {
  EXPECT_EQ(loop::status_line("lab 3, grading", 80),
            "h hint  t trace  r run  g grade  n next  q quit  |  lab 3, grading");
  for (const int columns : {78, 60, 50, 40, 30}) {
    const auto line = loop::status_line("lab 3, building 2/5", columns);
    EXPECT_NE(line.find("building"), line.npos) << columns;
    EXPECT_LT(distlab::columns_of(line), std::max(columns, 36)) << line;
  }
}

class Welcome : public testing::Test {
 protected:
  const std::vector<Lab> labs{{1, "01_first", "Lab 01: one"}, {2, "02_second", "Lab 02: two"}};
  static LabProgress graded(int score, const std::string& when) {
    LabProgress of;
    of.best = of.last = score;
    of.when = when;
    return of;
  }
  static std::string next_of(const std::string& page) {
    const auto at = page.find("Next: ");
    return at == page.npos ? "" : page.substr(at, page.find('\n', at) - at);
  }
};

TEST_F(Welcome, BeginsWithTheTourAndTheFirstLab) {
  EXPECT_EQ(welcome_page(labs, {}),
            "distlab: a teaching lab for distributed training\n\n"
            "Start here:\n"
            "  ./distlab demo      a tour in half a minute\n"
            "  ./distlab start 1   begin Lab 01: one\n"
            "  ./distlab list      all labs and your points\n"
            "  ./distlab --help    all commands\n");
}

TEST_F(Welcome, ContinuesWithTheLabOfTheLastGrade) {
  auto second = graded(40, "2026-11-22 10:00");
  second.failing = "Part2Exchange.two_ranks_swap";
  second.part = 2;
  EXPECT_EQ(welcome_page(labs, {{"01_first", graded(100, "2026-11-21 20:31")}, {"02_second", second}}),
            "distlab: a teaching lab for distributed training\n\n"
            "You have solved 1 of 2 labs.\n"
            "Next: Lab 02: two\n"
            "Your last grade has 40 of 100 points; part 2, \"two ranks swap\", fails.\n"
            "  ./distlab watch 2   build and grade whenever you save\n"
            "  ./distlab hint 2    get a hint about what the last grade found\n"
            "  ./distlab list      all labs and your points\n"
            "  ./distlab --help    all commands\n");
}

TEST_F(Welcome, AfterASolvedLabComesTheNextThatIsNotSolved) {
  const auto later = welcome_page(labs, {{"01_first", graded(100, "2026-11-21 20:31")}});
  EXPECT_EQ(next_of(later), "Next: Lab 02: two");
  EXPECT_NE(later.find("./distlab start 2"), later.npos) << later;
  EXPECT_EQ(next_of(welcome_page(labs, {{"02_second", graded(100, "2026-11-21 20:31")}})),
            "Next: Lab 01: one")
      << "a lab that was left out";
}

TEST_F(Welcome, HasATrainingRunForThoseWhoHaveSolvedAllLabs) {
  const auto page = welcome_page(
      labs, {{"01_first", graded(100, "2026-11-21 20:31")}, {"02_second", graded(100, "2026-11-22 10:00")}});
  EXPECT_NE(page.find("You have solved all 2 labs.\n  ./distlab train "), page.npos) << page;
}

}  // namespace
