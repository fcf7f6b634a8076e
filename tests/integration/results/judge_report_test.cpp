// The reader's side of the grader's report, with graders that are scripts.
#include "distlab/judge_report.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "dist/core/error.h"

#include "distlab/result_files.h"

namespace {

namespace fs = std::filesystem;
using distlab::Grade, distlab::GradedTest, distlab::GradeRecord;

constexpr auto header = R"({"isolation":"limits","seed":"17"})";
constexpr auto passed =
    R"({"suite":"S","name":"a","part":1,"points":40,"result":"passed","seconds":0.5,"messages":[]})";
constexpr auto failed =
    R"({"suite":"S","name":"b","part":2,"points":60,"result":"failed","seconds":0,"messages":["rank 1: \"no\""],)"
    R"("misconception":{"name":"m","text":"t"},"picture":true})";
constexpr auto end_of_two = R"({"done":true,"tests":2})";

class ScriptedJudge : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-judge-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  // A grader with this shell script; $4 is the report: JUDGE --runner RUNNER --report FILE.
  fs::path judge(const std::string& script) {
    const auto path = folder / "judge.sh";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static std::string report(const std::vector<std::string>& lines) {
    std::string script;
    for (const auto& line : lines) script += "printf '%s\\n' '" + line + "' >> \"$4\"; echo a line\n";
    return script;
  }
  Grade grade(const std::string& script, distlab::GradeSink on_test = {}) {
    return distlab::run_grading(
        {.program = judge(script), .runner = "runner", .seed = {}, .on_test = std::move(on_test)});
  }
  // What is said when it does not come to a grade.
  std::string trouble(const std::string& script) {
    try {
      const auto got = grade(script);
      return "graded: " + std::to_string(got.score);
    } catch (const dist::Error& error) {
      EXPECT_EQ(error.code(), dist::Errc::internal);
      return error.what();
    }
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  fs::path folder;
};

TEST_F(ScriptedJudge, IsReadToItsEnd) {
  const auto got = grade(report({header, passed, failed, end_of_two}) + "exit 1");
  EXPECT_EQ(got.score, 40);
  EXPECT_EQ(got.max_score, 100);
  EXPECT_EQ(got.seed, "17");
  EXPECT_EQ(got.isolation, "limits");
  ASSERT_EQ(got.tests.size(), 2U);
  EXPECT_EQ(got.tests[0].name, "S.a");
  EXPECT_EQ(got.tests[0].points, 40);
  EXPECT_EQ(got.tests[0].seconds, 0.5);
  EXPECT_EQ(got.tests[1].result, GradedTest::Result::failed);
  EXPECT_EQ(got.tests[1].messages, std::vector<std::string>{"rank 1: \"no\""});
  EXPECT_EQ(got.tests[1].misconception, "m");
  EXPECT_EQ(got.tests[1].explanation, "t");
  EXPECT_TRUE(got.tests[1].has_picture);
  EXPECT_FALSE(got.tests[0].has_picture);
}

TEST_F(ScriptedJudge, WithoutTheLastLineNothingIsGraded) {
  for (const auto* exit : {"exit 0", "exit 1"})
    EXPECT_TRUE(contains(trouble(report({header, passed, failed}) + exit), "report has no end")) << exit;
  EXPECT_TRUE(contains(trouble(report({header, passed, failed}) + "kill -9 $$"), "ended with status 137"));
  EXPECT_TRUE(contains(trouble(report({header, passed, failed}) + "printf '{\"done\":true,' >> \"$4\""),
                       "report has no end"));
  EXPECT_TRUE(contains(trouble("exit 1"), "report has no end")) << "no report at all";
}

TEST_F(ScriptedJudge, NeverGradesAReportThatMakesNoSense) {
  EXPECT_TRUE(contains(trouble(report({header, passed, end_of_two}) + "exit 1"),
                       "says that it has 2 tests, but has 1"));
  EXPECT_TRUE(
      contains(trouble(report({header, passed, R"({"done":true,"tests":1})"})), "tests have 40 points"));
  EXPECT_TRUE(contains(trouble(report({header, passed, failed, end_of_two})), "the score is 40, but"))
      << "exit status 0 says that all passed";
  EXPECT_TRUE(
      contains(trouble(report({header, passed, failed, end_of_two, passed}) + "exit 1"), "after its end"));
  for (const auto* line : {"nonsense", "{}", "[]", R"({"suite":"S","name":"a"})", "\xff"})
    EXPECT_TRUE(contains(trouble(report({header, line, passed, failed, end_of_two}) + "exit 1"),
                         "report cannot be read ("))
        << line;
}

// The grader waits for what happens only when the first test is known.
TEST_F(ScriptedJudge, IsHeardWhileItWorks) {
  const auto heard = folder / "heard";
  std::vector<std::size_t> tests;
  const auto got = grade(report({header, passed}) + "for i in $(seq 100); do [ -e " + heard.string() +
                             " ] && break; sleep 0.1; done; [ -e " + heard.string() + " ] || exit 7\n" +
                             report({failed, end_of_two}) + "exit 1",
                         [&](const Grade& so_far) {
                           tests.push_back(so_far.tests.size());
                           std::ofstream(heard) << "yes";
                         });
  EXPECT_EQ(tests, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(got.tests.size(), 2U);
}

TEST_F(ScriptedJudge, ItsReportMayBeAheadOfItsOutput) {
  int heard = 0;
  const auto got = grade("printf '%s\\n%s\\n%s\\n%s\\n' '" + std::string(header) + "' '" + passed + "' '" +
                             failed + "' '" + end_of_two + "' > \"$4\"; exit 1",
                         [&](const Grade&) { ++heard; });
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(got.tests.size(), 2U);
}

TEST_F(ScriptedJudge, ResultFilesAreReplacedAndLinksFollowed) {
  const GradeRecord record{.lab = "01_x", .graded_file = "lab", .grade = Grade{}, .reason = {}};
  distlab::ResultFiles files;
  files.csv = folder / "new.csv";
  files.json = folder / "link to a device";  // a mistake here must not replace the device itself
  fs::create_symlink("/dev/null", files.json);
  files.gradescope = folder / "link";
  std::ofstream(folder / "target") << "old";
  fs::create_symlink(folder / "target", files.gradescope);
  EXPECT_TRUE(distlab::write_results(files, record));
  EXPECT_TRUE(fs::is_regular_file(files.csv));
  EXPECT_TRUE(fs::is_symlink(files.gradescope));
  EXPECT_GT(fs::file_size(folder / "target"), 10U);
  EXPECT_TRUE(fs::is_symlink(files.json));
  files.csv = folder / "no such folder" / "x.csv";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(distlab::write_results(files, record));
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "there is no folder"));
}

}  // namespace
