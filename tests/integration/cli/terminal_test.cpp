// What a student sees on a terminal: a grade while its tests run, and no line that is wider than the
// terminal. The checkout is a small one, whose grader is a script that waits for us between its tests.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "distlab/columns.h"
#include "distlab/process.h"
#include "distlab/waiting.h"
#include "pseudo_terminal.h"
#include "small_checkout.h"

namespace {

constexpr auto grader = R"(#!/bin/sh
report=$4
line() { printf '%s\n' "$1" >> "$report"; }
wait_for() { while [ ! -e "$DISTLAB_ROOT/$1" ]; do sleep 0.05; done; }
line '{"isolation":"bubblewrap","seed":"17"}'
line '{"planned":2}'
echo '{"planned":99}'
wait_for first
line '{"suite":"S","name":"ranks_swap","part":1,"points":40,"result":"passed","seconds":0,"messages":[]}'
echo '[       OK ] S.ranks_swap'
wait_for second
line '{"suite":"S","name":"ranks_hang","part":2,"points":60,"result":"failed","seconds":0,"messages":["rank 1 sent 3"]}'
echo '[  FAILED  ] S.ranks_hang'
[ ! -e "$DISTLAB_ROOT/broken" ] || exit 3
line '{"done":true,"tests":2}'
exit 1
)";

class GradeOnATerminal : public SmallCheckout {
 protected:
  void SetUp() override {
    SmallCheckout::SetUp();
    program("build/bin/lab_01_grade", grader);
    program("build/bin/lab_01_runner", "#!/bin/sh\n");
    ::setenv("TERM", "xterm", 1);
  }
  void program(const std::string& path, const std::string& text) {
    write(path, text);
    ::chmod((root / path).c_str(), 0755);
  }
};

const std::vector<std::string> grade_1{DISTLAB_PROGRAM, "grade", "1"};

// What stays on the terminal: lines that were rewritten are gone, and so are colours.
std::string what_stays(const std::string& shown) {
  std::string line, all;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown.substr(i, 4) == "\r\033[K") {
      line.clear();
      i += 3;
    } else if (shown[i] == '\033') {
      i = shown.find('m', i);
    } else if (shown[i] == '\n') {
      all += std::exchange(line, {}) + '\n';
    } else if (shown[i] != '\r') {
      line += shown[i];
    }
  }
  return all + line;
}

TEST_F(GradeOnATerminal, SaysWhichTestRunsAndPrintsEachAsItEnds) {
  PseudoTerminal terminal(grade_1, 24, 80);
  ASSERT_TRUE(terminal.shows("testing 1 of 2")) << terminal.all();
  EXPECT_TRUE(terminal.shows("testing 1 of 2, 2 s so far")) << terminal.all();
  write("first", "");
  ASSERT_TRUE(terminal.shows("ranks swap")) << terminal.all();
  ASSERT_TRUE(terminal.shows("testing 2 of 2")) << terminal.all();
  EXPECT_EQ(terminal.all().find("Score"), std::string::npos) << terminal.all();
  write("second", "");
  EXPECT_TRUE(terminal.shows("Score 40 of 100")) << terminal.all();
  EXPECT_EQ(terminal.exit_code(), 1);
}

TEST_F(GradeOnATerminal, WhatTheTestsPrintIsNotRead) {
  PseudoTerminal terminal(grade_1, 24, 80);
  ASSERT_TRUE(terminal.shows("testing 1 of 2")) << terminal.all();
  write("first", "");
  write("second", "");
  EXPECT_EQ(terminal.exit_code(), 1);
  EXPECT_EQ(terminal.all().find("99"), std::string::npos) << terminal.all();
}

TEST_F(GradeOnATerminal, WhatStaysIsWhatAPipeGets) {
  write("first", "");
  write("second", "");
  PseudoTerminal terminal(grade_1, 24, 80);
  EXPECT_EQ(terminal.exit_code(), 1);
  EXPECT_EQ(what_stays(terminal.all()), distlab::run_captured(grade_1).output);
}

TEST_F(GradeOnATerminal, CtrlCLeavesNoLineBehind) {
  PseudoTerminal terminal(grade_1, 24, 80);
  ASSERT_TRUE(terminal.shows("testing 1 of 2")) << terminal.all();
  write("first", "");
  ASSERT_TRUE(terminal.shows("testing 2 of 2")) << terminal.all();
  terminal.press("\x03");
  EXPECT_EQ(terminal.exit_code(), 128 + SIGINT);
  EXPECT_TRUE(what_stays(terminal.all()).ends_with("ranks swap\n")) << what_stays(terminal.all());
  EXPECT_TRUE(terminal.has_echo());
}

TEST_F(GradeOnATerminal, AGraderThatFailsIsNotAGrade) {
  for (const auto* name : {"first", "second", "broken"}) write(name, "");
  PseudoTerminal terminal(grade_1, 24, 80);
  EXPECT_EQ(terminal.exit_code(), 3);
  const auto stays = what_stays(terminal.all());
  EXPECT_NE(stays.find("\nungraded: "), stays.npos) << stays;
  EXPECT_EQ(stays.find("Score"), stays.npos) << stays;
}

TEST(Waiting, SaysHowMuchTimeIsLeft) {
  EXPECT_EQ(distlab::time_left(std::chrono::seconds(10), 0.25), "about 30 s left");
  EXPECT_EQ(distlab::time_left(std::chrono::seconds(10), 1), "about 1 s left");
  EXPECT_EQ(distlab::time_left(std::chrono::minutes(10), 0.5), "about 10 min left");
}

TEST(SimOnATerminal, SaysHowLongItWillTake) {
  PseudoTerminal terminal({DISTLAB_PROGRAM, "sim", "all_reduce", "-n", "4096", "-b", "8", "-a", "ring"}, 24,
                          80);
  EXPECT_TRUE(terminal.shows("simulating ring on 4096 ranks, about ")) << terminal.all();
  EXPECT_TRUE(terminal.shows(" left")) << terminal.all();
}

std::string fitted(std::string_view text, int columns) {
  int column = 0;
  return distlab::fitted(text, columns, column);
}

TEST(Fitted, BreaksBetweenWordsBelowTheFirstOne) {
  EXPECT_EQ(fitted("one two three\n", 8), "one two\nthree\n");
  EXPECT_EQ(fitted("  one two three", 9), "  one two\n  three");
  EXPECT_EQ(fitted("fits just", 9), "fits just");
  EXPECT_EQ(fitted("", 9), "");
}

TEST(Fitted, ContinuesBelowTheSecondPart) {
  EXPECT_EQ(fitted("  -n  some ranks of many", 18), "  -n  some ranks\n      of many");
}

TEST(Fitted, KeepsALongWordWhole) {
  EXPECT_EQ(fitted("see /a/path/of/many/folders now", 12), "see\n/a/path/of/many/folders\nnow");
}

TEST(Fitted, ColoursTakeNoColumnsAndStay) {
  EXPECT_EQ(fitted("\033[1mone two\033[0m", 7), "\033[1mone two\033[0m");
  EXPECT_EQ(fitted("\033[1mone two\033[0m", 6), "\033[1mone\ntwo\033[0m");
}

TEST(Fitted, BreaksBetweenChineseCharactersButNotBeforeAFullStop) {
  EXPECT_EQ(fitted("每个进程都加入。", 8), "每个进程\n都加入。");
  EXPECT_EQ(fitted("每个进程都加入。", 14), "每个进程都加\n入。");
}

TEST(Fitted, GoesOnWhereTheTextBeforeHasEnded) {
  int column = 0;
  std::string all = distlab::fitted("12345", 8, column);
  all += distlab::fitted(" 678 9\n", 8, column);
  EXPECT_EQ(all, "12345\n678 9\n");
  EXPECT_EQ(column, 0);
}

TEST(Fitted, ALineThatIsRewrittenBeginsAgain) {
  EXPECT_EQ(fitted("12345\r\033[K12345", 8), "12345\r\033[K12345");
}

struct Command {
  std::string words;
  int exit_code = 0;
};

class Narrow : public testing::TestWithParam<Command> {};

TEST_P(Narrow, NoLineIsWiderThanTheTerminal) {
  std::vector<std::string> argv{DISTLAB_PROGRAM};
  std::istringstream words(GetParam().words);
  for (std::string word; words >> word;) argv.push_back(word);
  for (const int columns : {60, 100}) {
    PseudoTerminal terminal(argv, 40, columns);
    EXPECT_EQ(terminal.exit_code(), GetParam().exit_code);
    std::string text = terminal.all();
    std::ranges::replace(text, '\r', '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(distlab::columns_of(line), columns) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Narrow,
    testing::Values(Command{"--help"}, Command{""}, Command{"list"}, Command{"hint 5 --level 3"},
                    Command{"hint 5 --level 3 --zh"}, Command{"doctor --matrix"},
                    Command{"sim all_reduce -n 8 --links"}, Command{"show"}, Command{"show deadlock"},
                    Command{"show pipeline --actions"}, Command{"data digits"},
                    Command{"bench all_reduce --explain 4MiB -n 8"}, Command{"sim --help"},
                    Command{"train --help"}, Command{"bench --help"}, Command{"start 0"},
                    Command{"show double-tree"}, Command{"show overlap"}, Command{"version"},
                    Command{"sim all_reduce -n 16 -b 1GiB -a ring,tree"}, Command{"grade nonsense", 2},
                    Command{"frobnicate", 2}, Command{"sim all_reduce -n 99999999", 2},
                    Command{"trace /nonexistent.json", 1}));

}  // namespace
