// distlab watch, on a terminal and without one, in a small checkout whose compiler and judge are stand-ins: a
// file with "wrong" in it does not compile, one with "slow" takes long, one with "escapes" starts a session
// of its own, one with "return 4" gets all points.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "dist/trace/recorder.h"

#include "distlab/process.h"
#include "pseudo_terminal.h"
#include "small_checkout.h"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto ninja = R"(#!/bin/sh
echo "ninja: Entering directory"
echo "@@ 0/1 Building"
echo $$ >> "$DISTLAB_ROOT/builds"
file=$DISTLAB_ROOT/labs/01_first/first.cpp
if grep -q escapes "$file"; then setsid sleep 60 & echo $! > "$DISTLAB_ROOT/escaped"; fi
grep -q slow "$file" && sleep 60
if grep -q wrong "$file"; then
  printf 'FAILED: first.cpp.o\ng++ -long -command -line\n'
  printf '%s:2:5: error: %s\n    2 | wrong\n      | ^~~~~\n' "$file" 'expected unqualified-id'
  exit 1
fi
echo "@@ 1/1 Linking"
)";

constexpr auto judge = R"(#!/bin/sh
echo "$@" > "$DISTLAB_ROOT/asked"
previous=
for argument; do
  [ "$previous" = --report ] && report=$argument
  [ "$previous" = --traces ] && cp "$DISTLAB_ROOT/run.json" "$argument/Part1A.one.json" 2> /dev/null
  previous=$argument
done
result='"failed", "messages": ["expected 4, got 5"], "misconception": {"name": "by_one", "text": "counts from one"}'
status=1
if grep -q 'return 4' "$DISTLAB_ROOT/labs/01_first/first.cpp"; then result='"passed", "messages": []' status=0; fi
{
  echo '{"isolation": "bubblewrap", "seed": "17"}'
  printf '{"suite": "Part1A", "name": "one", "part": 1, "points": 40, "seconds": 0.1, "result": %s}\n' "$result"
  echo '{"suite": "Part2B", "name": "two", "part": 2, "points": 60, "seconds": 0.1, "result": "passed", "messages": []}'
  echo '{"done": true, "tests": 2}'
} > "$report"
exit $status
)";

class Watch : public SmallCheckout {
 protected:
  void SetUp() override {
    SmallCheckout::SetUp();
    write("labs/01_first/hints/1.md",
          "# Lab 01, hints\n\n**Part 1.** Count from zero.\n\n**Part 2.** Else.\n");
    write("labs/01_first/hints/2.md", "# Lab 01, hints\n\n**Part 1.** Zero is the first.\n");
    write("labs/02_second/README.md", "# Lab 02: the second\n");
    write("labs/02_second/second.cpp", "\n");
    program("tools/ninja", ninja);
    for (const char* lab : {"lab_01", "lab_02"}) {
      program(std::string("build/bin/") + lab + "_grade", judge);
      program(std::string("build/bin/") + lab + "_runner", "#!/bin/sh\n");
      program(std::string("build/bin/") + lab + "_demo", "#!/bin/sh\necho the demo speaks\n");
    }
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", ((root / "tools").string() + ":" + path_before_).c_str(), 1);
    ::setenv("TERM", "xterm", 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_before_.c_str(), 1);
    SmallCheckout::TearDown();
  }
  void program(const std::string& path, const std::string& text) {
    write(path, text);
    ::chmod((root / path).c_str(), 0755);
  }
  // Saves as editors do: a new file takes the place of the old one.
  void save(const std::string& text) {
    write("labs/01_first/.first.cpp.swap", text);
    fs::rename(root / "labs/01_first/.first.cpp.swap", root / file);
  }
  std::string path_before_;
};

const std::vector<std::string> watch_1{DISTLAB_PROGRAM, "watch", "1"};

TEST_F(Watch, GradesAtOnceAndWheneverTheFileIsSaved) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100")) << terminal.all();
  EXPECT_TRUE(terminal.shows("part 1: one")) << terminal.all();
  EXPECT_TRUE(terminal.shows("expected 4, got 5")) << terminal.all();
  EXPECT_TRUE(terminal.shows("counts from one")) << terminal.all();
  save("int f() { return 4; }\n");
  ASSERT_TRUE(terminal.shows("100 of 100")) << terminal.all();
  write(file, "int f() { return 5; }\n");
  ASSERT_TRUE(terminal.shows("60 of 100")) << terminal.all();
  EXPECT_NE(read(".distlab/progress").find("01_first                          100   60"), std::string::npos)
      << read(".distlab/progress");
}

TEST_F(Watch, QuittingLeavesTheTerminalAsItWas) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("q quit"));
  EXPECT_FALSE(terminal.has_echo());
  EXPECT_FALSE(terminal.is_by_line());
  terminal.press("q");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.has_echo());
  EXPECT_TRUE(terminal.is_by_line());
}

TEST_F(Watch, SignalsLeaveTheTerminalAsItWas) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    PseudoTerminal terminal(watch_1, 24, 80);
    ASSERT_TRUE(terminal.shows("q quit")) << signal;
    terminal.signal(signal);
    EXPECT_EQ(terminal.exit_code(), 0) << signal;
    EXPECT_TRUE(terminal.has_echo()) << signal;
    EXPECT_TRUE(terminal.is_by_line()) << signal;
  }
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("q quit"));
  terminal.press("\003");  // Ctrl-C
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.has_echo());
}

// Waits until the terminal has echo, or has none.
bool comes_to(const PseudoTerminal& terminal, bool echo) {
  for (int i = 0; i < 500 && terminal.has_echo() != echo; ++i) std::this_thread::sleep_for(10ms);
  return terminal.has_echo() == echo;
}

TEST_F(Watch, CtrlZGivesTheTerminalBackAndFgTakesItAgain) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  terminal.press("\032");
  EXPECT_TRUE(comes_to(terminal, true));
  terminal.signal(SIGCONT);
  EXPECT_TRUE(comes_to(terminal, false));
  EXPECT_TRUE(terminal.shows("60 of 100")) << "drawn again";
  terminal.press("q");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.has_echo());
}

// After the grade: a process that a crash cuts off goes on for a while, and writes into the checkout.
TEST_F(Watch, ACrashLeavesTheTerminalAsItWas) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  terminal.signal(SIGSEGV);
  EXPECT_NE(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.has_echo());
  EXPECT_TRUE(terminal.is_by_line());
}

TEST_F(Watch, ACompilerErrorComesFirstAndShort) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  save("// what to write\nwrong\n");
  ASSERT_TRUE(terminal.shows("does not compile")) << terminal.all();
  EXPECT_TRUE(terminal.shows("labs/01_first/first.cpp:2:5: error: expected unqualified-id"))
      << terminal.all();
  EXPECT_TRUE(terminal.shows("    2 | wrong")) << terminal.all();
  EXPECT_TRUE(terminal.shows("the whole log: build/build.log")) << terminal.all();
  EXPECT_EQ(terminal.all().find("-long -command"), std::string::npos);
  EXPECT_NE(read("build/build.log").find("expected unqualified-id"), std::string::npos);
}

// Dead, though perhaps no process has asked how it ended.
bool comes_to_an_end(int process) {
  const auto is_dead = [&] {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    return !(file >> number >> name >> state) || state == "Z" || state == "X";
  };
  for (int i = 0; i < 200 && !is_dead(); ++i) std::this_thread::sleep_for(10ms);
  return is_dead();
}

TEST_F(Watch, ASaveDuringABuildBeginsAnewAndLeavesNothingRunning) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  fs::remove(root / "builds");
  save("slow\n");
  ASSERT_TRUE(terminal.shows("building 0/1")) << terminal.all();
  for (int i = 0; i < 200 && read("builds").empty(); ++i) std::this_thread::sleep_for(10ms);
  const int slow_build = std::stoi(read("builds"));
  save("int f() { return 4; }\n");
  ASSERT_TRUE(terminal.shows("100 of 100")) << terminal.all();
  EXPECT_TRUE(comes_to_an_end(slow_build)) << "the slow build is still running";
}

TEST_F(Watch, KeysShowHintsAndTheDemoAndTheNextLab) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  terminal.press("h");
  EXPECT_TRUE(terminal.shows("hint 1 of 3")) << terminal.all();
  EXPECT_TRUE(terminal.shows("Your last grade suggests: counts from one")) << terminal.all();
  EXPECT_TRUE(terminal.shows("Count from zero")) << terminal.all();
  EXPECT_TRUE(terminal.shows("For a bigger hint")) << terminal.all();
  terminal.press("H");
  EXPECT_TRUE(terminal.shows("Zero is the first")) << terminal.all();
  terminal.press("r");
  EXPECT_TRUE(terminal.shows("the demo speaks")) << terminal.all();
  terminal.press("\033[H");  // the key "Home" is not an h
  terminal.press("g");
  EXPECT_TRUE(terminal.shows("60 of 100")) << terminal.all();
  EXPECT_EQ(terminal.all().find("hint 3 of 3"), std::string::npos) << terminal.all();
  terminal.press("n");
  EXPECT_TRUE(terminal.shows("Lab 02: the second")) << terminal.all();
  terminal.press("n");
  EXPECT_TRUE(terminal.shows("Lab 01: the first")) << "after the last lab the first";
}

TEST_F(Watch, WithoutANumberItIsTheFirstLabThatIsNotSolved) {
  write(".distlab/progress", "01_first 100 100 2026-11-21 20:31\n");
  PseudoTerminal terminal({DISTLAB_PROGRAM, "watch"}, 24, 80);
  EXPECT_TRUE(terminal.shows("Lab 02: the second")) << terminal.all();
}

TEST_F(Watch, ANarrowTerminalHasTheKeysInShort) {
  PseudoTerminal terminal(watch_1, 24, 80);
  ASSERT_TRUE(terminal.shows("60 of 100"));
  terminal.resize(12, 44);
  EXPECT_TRUE(terminal.shows("60 of 100")) << "drawn again";
  terminal.press("g");
  EXPECT_TRUE(terminal.shows("h t r g n q")) << terminal.all();
}

TEST_F(Watch, WithoutATerminalResultsArePrintedUntilTheInputEnds) {
  const auto once = distlab::run_captured(watch_1);  // no input at all
  EXPECT_EQ(once.exit_code, 0) << once.output;
  EXPECT_NE(once.output.find("60 of 100"), std::string::npos) << once.output;
  EXPECT_EQ(once.output.find('\033'), std::string::npos) << once.output;
  EXPECT_EQ(once.output.find("q quit"), std::string::npos) << once.output;
  const auto saved = distlab::run_captured(
      {"sh", "-c", "(sleep 1; echo 'int f() { return 4; }' > \"$0\"; sleep 2) | \"$1\" watch 1 | cat",
       (root / file).string(), DISTLAB_PROGRAM});
  EXPECT_NE(saved.output.find("60 of 100"), std::string::npos) << saved.output;
  EXPECT_NE(saved.output.find("100 of 100"), std::string::npos) << saved.output;
}

// Such a process belongs to a sandbox that is being started.
TEST_F(Watch, EndsWhatHasLeftTheProcessGroup) {
  write(file, "slow, and escapes\n");
  PseudoTerminal terminal(watch_1, 24, 80);
  for (int i = 0; i < 500 && read("escaped").empty(); ++i) std::this_thread::sleep_for(10ms);
  const pid_t escaped = std::atoi(read("escaped").c_str());
  ASSERT_GT(escaped, 0) << terminal.all();
  ASSERT_EQ(::kill(escaped, 0), 0);
  terminal.press("q");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_NE(::kill(escaped, 0), 0) << "it waits forever";
}

TEST_F(Watch, AnUnknownLabIsRefused) {
  EXPECT_NE(run({"watch", "9"}, 2).find("there is no lab \"9\""), std::string::npos);
}

TEST_F(Watch, HintsFollowTheLastGrade) {
  run({"grade", "1"}, 1);
  EXPECT_TRUE(contains(run({"hint", "1"}), "counts from one"));
  const auto whole = run({"hint", "1", "--level", "1"});
  EXPECT_TRUE(contains(whole, "**Part 2.** Else.")) << "a level is the whole page: " << whole;
  const auto second = run({"hint", "1"});
  EXPECT_TRUE(contains(second, "hint 2 of 3")) << second;
  EXPECT_FALSE(contains(second, "Count from zero")) << second;
  save("int f() { return 4; }\n");
  run({"grade", "1"});
  EXPECT_TRUE(contains(run({"hint", "1"}), "has all points"));
}

TEST_F(Watch, AFileInAnotherFolderIsNamed) {
  write("first.cpp", "int f() { return 4; }\n");
  const auto said = run({"grade", "1"}, 1);
  EXPECT_TRUE(contains(said, file + " is untouched, and only this file was graded")) << said;
  EXPECT_TRUE(contains(said, (root / "first.cpp").string() + ": move it there")) << said;
  save("int f() { return 5; }\n");
  EXPECT_FALSE(contains(run({"grade", "1"}, 1), "untouched"));
}

TEST_F(Watch, ATestWithoutMessagesHasNoPicture) {
  const auto said = run({"trace", "1"});
  EXPECT_TRUE(contains(said, "Part1A.one")) << said;
  EXPECT_TRUE(contains(said, "expected 4, got 5")) << said;
  EXPECT_TRUE(contains(said, "This test sends no messages, so there is no picture: it calls your code"))
      << said;
  EXPECT_TRUE(contains(said, "the actual result above")) << said;
  const auto asked = read("asked");
  for (const char* part : {"--seed 17", "--gtest_filter=Part1A.one", "--traces /"})
    EXPECT_TRUE(contains(asked, part)) << "the failing test with the random tests of the grade: " << asked;
  save("int f() { return 4; }\n");
  run({"grade", "1"});
  EXPECT_TRUE(contains(run({"trace", "1"}), "--test NAME"));
}

TEST_F(Watch, ARunWithoutMessagesShowsItsCallsIfThereAreAny) {
  dist::trace::Trace trace{"2 ranks", 2, true, {}};
  dist::trace::write_file(trace, root / "run.json");
  EXPECT_TRUE(contains(run({"trace", "1"}), "no picture: its ranks ran, but none of them sent"));
  dist::trace::Event call;
  call.name = "barrier";
  call.end = 1000;
  trace.events.push_back(call);
  dist::trace::write_file(trace, root / "run.json");
  const auto drawn = run({"trace", "1"});
  EXPECT_TRUE(contains(drawn, "┏ barrier")) << drawn;
  EXPECT_TRUE(contains(drawn, "This run sends no messages; the picture shows its calls.")) << drawn;
  EXPECT_TRUE(run({"trace", "1", "--format", "player"}).ends_with("}\n")) << "nothing but the trace";
}

}  // namespace
