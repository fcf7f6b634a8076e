// `distlab class grade`, in a checkout of our own whose judge is a script that does what the submission says.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "distlab/digest.h"
#include "distlab/file_text.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// ROOT BUILD LAB_FILE SUBMISSION INTO
constexpr auto builder = R"(#!/bin/sh
echo built >> "$1/log"
grep -q refuse "$4" && { echo '{"refused":"first.cpp does not compile: 100% \"wrong\""}'; exit 1; }
grep -q breaks "$4" && { echo 'no compiler'; exit 3; }
grep -q once "$4" && ! test -e "$1/once" && { touch "$1/once"; exit 3; }
cp "$4" "$5/runner"
grep -q unboxed "$4" && { echo '{"isolation":"limits"}'; exit 0; }
echo '{"isolation":"bubblewrap"}'
)";
// --runner RUNNER --report REPORT --seed SEED
constexpr auto judge = R"(#!/bin/sh
line() { printf '%s\n' "$1" >> "$report"; echo a line; }
report=$4
grep -q slow "$2" && sleep 61.7
line '{"isolation":"bubblewrap","seed":"'$6'"}'
line '{"suite":"S","name":"one","part":1,"points":30,"result":"passed","seconds":0,"messages":[]}'
if grep -q right "$2" || { grep -q flaky "$2" && test $(($6 % 2)) = 1; }; then
  line '{"suite":"S","name":"two","part":2,"points":70,"result":"passed","seconds":0,"messages":[]}'
  line '{"done":true,"tests":2}'
else
  line '{"suite":"S","name":"two","part":2,"points":70,"result":"failed","seconds":0,"messages":["m"],"misconception":{"name":"off_by_one","text":"n <= n & more"}}'
  line '{"done":true,"tests":2}'
  exit 1
fi
)";

// A process whose command line begins like this; its words end with zero bytes.
template <std::size_t n>
bool is_running(const char (&words)[n]) {
  const std::string_view wanted(words, n - 1);
  return std::ranges::any_of(fs::directory_iterator("/proc"), [&](const fs::directory_entry& process) {
    return distlab::text_of_file(process.path() / "cmdline").starts_with(wanted);
  });
}

class ClassGrade : public testing::Test {
 protected:
  void SetUp() override {
    write("CMakePresets.json", "{}");
    write("lib/dist/dist.h", "");
    write("labs/01_first/README.md", "# Lab 01: the first\n");
    write("labs/01_first/first.cpp", "// a starter\n");
    program("judge_build", builder);
    program("lab_01_grade", judge);
    program("lab_01_runner", "");
    fs::create_directories(submissions);
    fs::create_directories(root / "temporary");
    setenv("DISTLAB_ROOT", root.c_str(), 1);
    setenv("DISTLAB_BUILD", (root / "build").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("DISTLAB_ROOT");
    unsetenv("DISTLAB_BUILD");
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void program(const std::string& name, const std::string& text) const {
    write("build/bin/" + name, text);
    fs::permissions(root / "build/bin" / name, fs::perms::owner_all);
  }
  void hand_in(const std::string& name, const std::string& text) const {
    std::ofstream(submissions / name) << text;
  }
  // Its output, when it ends so.
  std::string grade(const std::vector<std::string>& more = {}, int exit_code = 0,
                    const std::vector<std::string>& before = {}) const {
    std::vector<std::string> argv{"env", "TMPDIR=" + (root / "temporary").string()};
    argv.insert(argv.end(), before.begin(), before.end());
    argv.insert(argv.end(),
                {DISTLAB_PROGRAM, "class", "grade", submissions, "--lab", "1", "--out", out, "--jobs", "3"});
    argv.insert(argv.end(), more.begin(), more.end());
    const auto result = distlab::run_captured(argv);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    EXPECT_TRUE(fs::is_empty(root / "temporary")) << "a file was left behind";
    return result.output;
  }
  Json result(const std::string& name) const {
    return Json::parse(distlab::text_of_file(out / "results" / (name + ".json")));
  }
  std::ptrdiff_t builds() const {
    const auto log = distlab::text_of_file(root / "log");
    return std::ranges::count(log, '\n');
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const distlab::TemporaryFolder folder{"class-grade"};
  const fs::path root = folder.path(), submissions = root / "handed in", out = root / "the grades";
};

TEST_F(ClassGrade, IsBuiltOnceAndGradedWithTwoSeeds) {
  hand_in("ann.cpp", "right");
  hand_in("bob.cpp", "wrong");
  grade({"--seed", "41"});
  EXPECT_EQ(builds(), 2);
  EXPECT_EQ(result("ann").at("score"), 100);
  EXPECT_EQ(result("ann").at("gradings").at(0).at("seed"), "41");
  EXPECT_EQ(result("ann").at("gradings").at(1).at("seed"), "42");
  EXPECT_EQ(result("ann").at("flaky"), false);
  EXPECT_EQ(result("ann").at("mode"), "trusted");
  EXPECT_EQ(result("bob").at("score"), 30);
  const auto csv = distlab::text_of_file(out / "grades.csv");
  EXPECT_TRUE(contains(csv, "ann,100,100,,graded,bubblewrap,trusted,,,")) << csv;
  EXPECT_TRUE(contains(csv, "bob,30,100,,graded,bubblewrap,trusted,S.two,off_by_one,")) << csv;
  const auto all = Json::parse(distlab::text_of_file(out / "grades.json"));
  EXPECT_EQ(all.at("lab"), "Lab 01: the first");
  EXPECT_EQ(all.at("seed"), "41");
  EXPECT_EQ(all.at("submissions").size(), 2U);
}

TEST_F(ClassGrade, AFlakyOneIsNamedAndGetsTheLowerScore) {
  hand_in("ann.cpp", "flaky");
  EXPECT_TRUE(contains(grade({"--seed", "41"}), "ann: 30, flaky"));
  EXPECT_EQ(result("ann").at("score"), 30);
  EXPECT_TRUE(contains(distlab::text_of_file(out / "grades.csv"), "ann,30,100,flaky,graded,"));
  EXPECT_TRUE(
      contains(distlab::text_of_file(out / "report.html"), "100 points with seed 41, 30 with seed 42"));
}

TEST_F(ClassGrade, ARefusedOneHasNoPointsAndAReason) {
  hand_in("ann.cpp", "refuse");
  fs::create_symlink("/etc/passwd", submissions / "bob");
  fs::create_directory_symlink("/etc", submissions / "eve");
  EXPECT_EQ(::mkfifo((submissions / "pipe").c_str(), 0600), 0);
  grade();
  EXPECT_EQ(result("ann").at("status"), "refused");
  EXPECT_EQ(result("ann").at("reason"), "first.cpp does not compile: 100% \"wrong\"");
  EXPECT_EQ(result("bob").at("reason"), "bob is a link; hand in the file itself");
  EXPECT_EQ(result("eve").at("reason"), "eve is a link; hand in the file itself");
  EXPECT_EQ(result("pipe").at("reason"), "pipe is neither a file nor a folder");
  EXPECT_EQ(builds(), 1) << "links and pipes are not even opened";
}

TEST_F(ClassGrade, AGradersFaultIsTriedTwiceAndThenUngraded) {
  hand_in("ann.cpp", "breaks");
  hand_in("bob.cpp", "right");
  EXPECT_TRUE(contains(grade({}, 3), "not graded, because the grader failed: 1 of 2 submissions"));
  EXPECT_EQ(builds(), 3);
  EXPECT_EQ(result("ann").at("status"), "ungraded");
  EXPECT_TRUE(contains(result("ann").at("reason"), "no compiler"));
  EXPECT_FALSE(contains(result("ann").at("reason"), "\n")) << "a cell of a table";
  EXPECT_TRUE(contains(distlab::text_of_file(out / "grades.csv"), "ann,,100,,ungraded,"));
  grade({}, 3);
  EXPECT_EQ(builds(), 5) << "ann's, twice more; bob has a grade";
  hand_in("ann.cpp", "right");
  grade();
  EXPECT_EQ(result("ann").at("score"), 100);
}

TEST_F(ClassGrade, AFaultThatPassesIsForgotten) {
  hand_in("ann.cpp", "once right");
  grade();
  EXPECT_EQ(builds(), 2);
  EXPECT_EQ(result("ann").at("score"), 100);
}

TEST_F(ClassGrade, WhatIsGradedAndUnchangedIsNotGradedAgain) {
  hand_in("ann.cpp", "right");
  fs::create_directories(submissions / "bob/deep");
  fs::copy_file(submissions / "ann.cpp", submissions / "bob/deep/first.cpp");
  program("judge_build",
          "#!/bin/sh\necho built >> \"$1/log\"\necho right > \"$5/runner\"\n"
          "echo '{\"isolation\":\"bubblewrap\"}'\n");
  grade();
  const auto seed = distlab::text_of_file(out / "seed");
  EXPECT_TRUE(contains(grade(), "already graded: 2 of 2 submissions"));
  EXPECT_EQ(builds(), 2);
  EXPECT_EQ(distlab::text_of_file(out / "seed"), seed) << "the same random tests for those who come late";
  std::ofstream(submissions / "bob/deep/first.cpp") << "right again";
  grade();
  EXPECT_EQ(builds(), 3) << "bob's has changed";
  program("lab_01_grade", std::string(judge) + "# another judge\n");
  grade();
  EXPECT_EQ(builds(), 5) << "the grader has changed";
  grade({"--again"});
  EXPECT_EQ(builds(), 7);
  grade({"--seed", "17"});
  EXPECT_EQ(builds(), 9) << "other random tests";
  fs::remove_all(submissions / "bob");
  grade();
  EXPECT_EQ(builds(), 9);
  EXPECT_FALSE(contains(distlab::text_of_file(out / "grades.csv"), "bob"))
      << "a submission that is gone is in no table";
}

TEST_F(ClassGrade, NamesMayBeAnything) {
  const std::vector<std::string> names{
      "-rf",      "--lab", "$(touch pwned); `x`", "new\nline", "\"quoted\" 'name'", "=1+1", "王芳",
      "\xff\xfe", "100%",  std::string(250, 'x'), "a{b}[c]"};
  for (const auto& name : names) hand_in(name, "right");
  hand_in("twice.cpp", "right");
  hand_in("twice.zip", "wrong");
  hand_in("twice.zip.cpp", "right");
  hand_in(".DS_Store", "wrong");
  const auto said = grade();
  EXPECT_TRUE(contains(said, "new line: 100\n")) << said;
  const auto all = Json::parse(distlab::text_of_file(out / "grades.json")).at("submissions");
  EXPECT_EQ(all.size(), names.size() + 3);
  for (const auto& each : all) EXPECT_EQ(each.at("score"), each.at("name") == "twice.zip" ? 30 : 100) << each;
  EXPECT_FALSE(fs::exists("pwned"));
  EXPECT_TRUE(contains(distlab::text_of_file(out / "grades.csv"), "\r\n'=1+1,100"));
}

// "ann" with a mark that reverses the text after it, and a name that a spreadsheet would run.
TEST_F(ClassGrade, NamesDoNotReorderWhatIsAroundThem) {
  hand_in(
      "ann\xe2\x80\xae"
      "001.cpp",
      "right");
  hand_in(
      "=\xef\xbb\xbf"
      "1+1.cpp",
      "refuse");
  fs::create_symlink("/etc/passwd", submissions /
                                        "\xe2\x81\xa6"
                                        "eve");
  const auto said = grade();
  EXPECT_TRUE(contains(said, "ann\\u202e001: 100\n")) << said;
  EXPECT_TRUE(contains(said, "\\u2066eve is a link")) << said;
  for (const char* file : {"grades.csv", "grades.json", "report.html"}) {
    std::string text = distlab::text_of_file(out / file);
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // the byte-order mark of a spreadsheet's file
    EXPECT_TRUE(contains(text, "u202e001")) << text;
    for (const char* mark : {"\xe2\x80\xae", "\xef\xbb\xbf", "\xe2\x81\xa6"})
      EXPECT_FALSE(contains(text, mark)) << file;
  }
  EXPECT_TRUE(contains(distlab::text_of_file(out / "grades.csv"), "\r\n'=\\ufeff1+1,0"));
}

// If a file cannot be a submission, only its size counts: 20 GB would take minutes to read.
TEST_F(ClassGrade, WhatCannotBeASubmissionIsNotRead) {
  const auto core = submissions / "ann/core.bin";
  fs::create_directory(submissions / "ann");
  std::ofstream(submissions / "ann/first.cpp") << "right";
  std::ofstream(core).close();
  fs::resize_file(core, std::uintmax_t{20} << 30);  // a hole
  const auto digest = distlab::digest_of_submission(submissions / "ann");
  std::fstream(core, std::ios::in | std::ios::out) << "something";
  EXPECT_EQ(distlab::digest_of_submission(submissions / "ann"), digest);
  std::ofstream(submissions / "ann/first.cpp") << "wrong";
  EXPECT_NE(distlab::digest_of_submission(submissions / "ann"), digest);
}

TEST_F(ClassGrade, InterruptedItEndsAllAndGoesOnLater) {
  hand_in("ann.cpp", "right");
  hand_in("bob.cpp", "slow right");
  constexpr int timed_out = 124;
  EXPECT_TRUE(contains(grade({}, timed_out, {"timeout", "-s", "INT", "3"}),
                       "interrupted; already graded: 1 of 2 submissions"));
  EXPECT_FALSE(fs::exists(out / "results/bob.json"));
  EXPECT_FALSE(fs::exists(out / "grades.csv"));
  EXPECT_FALSE(is_running("sleep\00061.7")) << "the grader's child";
  hand_in("bob.cpp", "right");
  EXPECT_TRUE(contains(grade(), "already graded: 1 of 2 submissions"));
  EXPECT_EQ(result("bob").at("score"), 100);
}

TEST_F(ClassGrade, WithoutASandboxItIsPractice) {
  hand_in("ann.cpp", "right unboxed");
  hand_in("bob.cpp", "right");
  EXPECT_TRUE(contains(grade(), "Practice, not trusted grades: 1 of 2"));
  EXPECT_TRUE(
      contains(distlab::text_of_file(out / "grades.csv"), "ann,100,100,,graded,bubblewrap,practice,"));
  EXPECT_TRUE(contains(distlab::text_of_file(out / "report.html"), "</h1>\n<p class=\"warning\">Practice"));
}

TEST_F(ClassGrade, WhatMakesNoSenseSaysWhy) {
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {DISTLAB_PROGRAM, "class", "grade"});
    const auto result = distlab::run_captured(words);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    return result.output;
  };
  EXPECT_TRUE(contains(said({submissions, "--lab", "1"}), "there are no submissions in"));
  hand_in("ann.cpp", "right");
  EXPECT_TRUE(contains(said({submissions, "--lab", "7"}), "there is no lab \"7\""));
  EXPECT_TRUE(contains(said({"/nowhere", "--lab", "1"}), "/nowhere is not a folder"));
  EXPECT_TRUE(
      contains(said({submissions, "--lab", "1", "--out", submissions / "x"}), "choose another --out"));
  EXPECT_TRUE(contains(said({submissions}), "--lab"));
}

}  // namespace
