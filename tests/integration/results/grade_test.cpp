// `distlab grade` and its files, in a checkout of our own whose graders are scripts.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/process.h"
#include "distlab/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr auto beginning = R"(line() { printf '%s\n' "$1" >> "$report"; echo a line; }
report=$4
line '{"isolation":"bubblewrap","seed":"17"}'
line '{"suite":"S","name":"first_one","part":1,"points":30,"result":"passed","seconds":0,"messages":[]}'
)";
constexpr auto fails = R"(
line '{"suite":"S","name":"second_one","part":2,"points":70,"result":"failed","seconds":0,"messages":["rank 1 sent 3"]}'
line '{"done":true,"tests":2}'
exit 1)";
constexpr auto passes = R"(
line '{"suite":"S","name":"second_one","part":2,"points":70,"result":"passed","seconds":0,"messages":[]}'
line '{"done":true,"tests":2}')";

class GradeFiles : public testing::Test {
 protected:
  void SetUp() override {
    write("CMakePresets.json", "{}");
    write("lib/dist/dist.h", "");
    for (const std::string name : {"01_first", "02_second"}) {
      write("labs/" + name + "/README.md", "# Lab " + name + "\n");
      write("labs/" + name + "/" + name.substr(3) + ".cpp", "// a starter\n");
    }
    distlab::run_captured({"sh", "-c",
                           "cd '" + root.string() +
                               "' && mkdir -p tests/grading && sha256sum labs/*/*.cpp > "
                               "tests/grading/starters.sha256"});
    judge(1, fails);
    judge(2, passes);
    setenv("DISTLAB_ROOT", root.c_str(), 1);
    setenv("DISTLAB_BUILD", (root / "build").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("DISTLAB_ROOT");
    unsetenv("DISTLAB_BUILD");
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void judge(int lab, const std::string& how_it_goes_on) {
    const auto program = "build/bin/lab_0" + std::to_string(lab);
    write(program + "_grade", "#!/bin/sh\n" + std::string(beginning) + how_it_goes_on + "\n");
    write(program + "_runner", "");
    fs::permissions(root / (program + "_grade"), fs::perms::owner_all);
  }
  std::string read(const std::string& path) {
    std::ifstream text(root / path);
    return {std::istreambuf_iterator<char>(text), {}};
  }
  // The options of all formats that are in `formats`, into files of these names.
  std::string run(std::vector<std::string> words, int exit_code,
                  const std::vector<std::string>& formats = {}) {
    words.insert(words.begin(), {DISTLAB_PROGRAM, "grade"});
    for (const auto& format : formats) words.insert(words.end(), {"--" + format, root / format});
    const auto result = distlab::run_captured(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    return result.output;
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const distlab::TemporaryFolder folder{"grade-files"};
  const fs::path root = folder.path();
};

const std::vector<std::string> all_formats{"json", "junit", "gradescope", "markdown", "csv"};

TEST_F(GradeFiles, OneLabIntoAllFormats) {
  run({"1"}, 1, all_formats);
  const auto json = Json::parse(read("json"));
  EXPECT_EQ(json.at("score"), 30);
  EXPECT_EQ(json.at("status"), "graded");
  EXPECT_EQ(Json::parse(read("gradescope")).at("tests").size(), 2U);
  EXPECT_TRUE(contains(read("junit"), "tests=\"2\" failures=\"1\""));
  EXPECT_TRUE(contains(read("markdown"), "30 of 100 points"));
  EXPECT_TRUE(contains(read("csv"), "S.second_one,failed,0,70,,rank 1 sent 3,17,bubblewrap\r\n"));
}

TEST_F(GradeFiles, WhatFailsInTheSameWordsIsSaidOnceAndReferredTo) {
  judge(1, R"(
line '{"suite":"S","name":"second_one","part":2,"points":20,"result":"failed","seconds":0,"messages":["one sent 3"]}'
line '{"suite":"S","name":"third_one","part":2,"points":10,"result":"failed","seconds":0,"messages":["two sent 3"]}'
line '{"suite":"T","name":"fourth_one","part":3,"points":30,"result":"failed","seconds":0,"messages":["one sent 3"]}'
line '{"suite":"U","name":"second_one","part":4,"points":10,"result":"failed","seconds":0,"messages":["one sent 3"]}'
line '{"done":true,"tests":5}'
exit 1)");
  const auto said = run({"1"}, 1);
  EXPECT_TRUE(contains(said, "second one\n          one sent 3\n")) << said;
  EXPECT_TRUE(contains(said, "third one\n          two sent 3\n")) << said;
  EXPECT_TRUE(contains(said, "fourth one\n          the same as \"second one\" above\n")) << said;
  EXPECT_TRUE(contains(said, "part 4\n  ✗  0/10  second one: the same message\n")) << said;
  EXPECT_EQ(said.find("one sent 3"), said.rfind("one sent 3")) << said;
}

TEST_F(GradeFiles, ADiagnosisIsToldOnce) {
  const auto fails_with = [](const std::string& name, const std::string& message) {
    return "line '{\"suite\":\"S\",\"name\":\"" + name +
           "\",\"part\":2,\"points\":35,\"result\":\"failed\",\"seconds\":0,\"messages\":[\"" + message +
           "\"],\"misconception\":{\"name\":\"m\",\"text\":\"no rank receives\"}}'\n";
  };
  judge(1, "\n" + fails_with("two_ranks", "a deadlock of 2:\\n  rank 0 waits\\n  rank 1 waits") +
               fails_with("three_ranks", "a deadlock of 3:\\n  rank 0 hangs\\n  rank 1 hangs") +
               "line '{\"done\":true,\"tests\":3}'\nexit 1");
  const auto said = run({"1"}, 1);
  EXPECT_TRUE(contains(said,
                       "          a deadlock of 2:\n            rank 0 waits\n            rank 1 waits\n"
                       "          Perhaps: no rank receives\n"))
      << said;
  EXPECT_TRUE(contains(said,
                       "          a deadlock of 3:\n"
                       "          Perhaps for the same reason as \"two ranks\" above\n"))
      << said;
  EXPECT_FALSE(contains(said, "hangs")) << said;
}

TEST_F(GradeFiles, WhatMayFollowFromAnEarlierPartIsFolded) {
  judge(1, R"(
line '{"suite":"S","name":"two","part":2,"points":20,"result":"failed","seconds":0,"messages":["a is 3"]}'
line '{"suite":"S","name":"three","part":3,"points":20,"result":"failed","seconds":0,"messages":["b is 3"]}'
line '{"suite":"S","name":"four","part":3,"points":30,"result":"failed","seconds":0,"messages":["c is 3"],"misconception":{"name":"m","text":"c counts from 1"}}'
line '{"done":true,"tests":4}'
exit 1)");
  const auto said = run({"1"}, 1);
  EXPECT_TRUE(contains(said, "two\n          a is 3\n")) << said;
  EXPECT_TRUE(contains(said, "three: part 2 fails; begin there\n")) << said;
  EXPECT_FALSE(contains(said, "b is 3")) << said;
  EXPECT_TRUE(contains(said, "four\n          c is 3\n          Perhaps: c counts from 1\n")) << said;
  const auto quiet = run({"1", "--quiet"}, 1);
  EXPECT_TRUE(contains(quiet, "four\n          c is 3\n\nScore")) << quiet;
  EXPECT_TRUE(contains(quiet, "a hint: ./distlab hint 1\n")) << quiet;
}

TEST_F(GradeFiles, OfSeveralFilesItSaysWhichOneWasGraded) {
  write("build/bin/judge_build", "#!/bin/sh\necho '{\"note\":\"b/first.cpp was graded\"}'\n");
  fs::permissions(root / "build/bin/judge_build", fs::perms::owner_all);
  EXPECT_TRUE(contains(run({"1", "--submission", root / "labs/01_first"}, 1, {"json", "gradescope"}),
                       "\nb/first.cpp was graded\n"));
  EXPECT_EQ(Json::parse(read("json")).at("note"), "b/first.cpp was graded");
  EXPECT_TRUE(contains(read("gradescope"), "b/first.cpp was graded"));
}

TEST_F(GradeFiles, WhatAStudentWritesHasNoPowerOverTheTerminal) {
  judge(1, R"(
line '{"suite":"S","name":"two","part":2,"points":70,"result":"failed","seconds":0,"messages":["a\u001b[2Jb","c\u001b[2Jd"]}'
line '{"done":true,"tests":2}'
exit 1)");
  write("build/bin/judge_build", "#!/bin/sh\necho '{\"refused\":\"e\\u001b[2Jf\"}'\nexit 1\n");
  fs::permissions(root / "build/bin/judge_build", fs::perms::owner_all);
  auto said = run({"1"}, 1) + run({"1", "--submission", root / "labs/01_first/first.cpp"}, 1) +
              distlab::run_captured({DISTLAB_PROGRAM, "trace", "1", "--test", "two"}).output;
  for (const auto* shown : {"a\\x1b[2Jb\n          c\\x1b[2Jd", "\na\\x1b[2Jb\n", "e\\x1b[2Jf"})
    EXPECT_TRUE(contains(said, shown)) << shown << " in\n" << said;
  judge(1, "printf '\\033[2J'; exit 3");
  said += run({"1"}, 3);
  EXPECT_EQ(said.find('\033'), said.npos) << said;
}

TEST_F(GradeFiles, WhatAStudentWritesDoesNotReorderOrHideText) {
  judge(1, R"(
line '{"suite":"S","name":"two","part":2,"points":70,"result":"failed","seconds":0,"messages":["a\u202e\u200bb","c\u2066d"]}'
line '{"done":true,"tests":2}'
exit 1)");
  write("build/bin/judge_build", "#!/bin/sh\necho '{\"refused\":\"e\\u2028f\"}'\nexit 1\n");
  fs::permissions(root / "build/bin/judge_build", fs::perms::owner_all);
  auto said = run({"1"}, 1, all_formats);
  for (const auto& format : all_formats) said += read(format);
  said += run({"1", "--submission", root / "labs/01_first/first.cpp"}, 1, all_formats);
  for (const auto& format : all_formats) said += read(format);
  said += run({"1", "--submission",
               root / "\xe2\x80\xae"
                      "gone.cpp"},
              3);
  for (const auto* shown : {"a\\u202e\\u200bb\n          c\\u2066d", "e\\u2028f", "\\u202egone.cpp"})
    EXPECT_TRUE(contains(said, shown)) << shown << " in\n" << said;
  for (const auto* mark : {"\xe2\x80\xae", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xe2\x81\xa6"})
    EXPECT_FALSE(contains(said, mark)) << said;
}

// What follows the score.
std::string next_of(const std::string& said) {
  const auto at = said.find("Next: ");
  return at == said.npos ? "" : said.substr(at);
}

TEST_F(GradeFiles, AfterTheScoreComesWhereToGoOn) {
  EXPECT_EQ(next_of(run({"1"}, 1)),
            "Next: part 2 in labs/01_first/first.cpp\n      a hint: ./distlab hint 1\n"
            "      the same random tests again: ./distlab grade 1 --seed 17\n");
  judge(1, passes);
  EXPECT_EQ(next_of(run({"1"}, 0)), "Next: ./distlab start 2\n") << "a checkout for students";
  write("solutions/01_first/first.cpp", "");
  write("solutions/02_second/second.cpp", "");
  EXPECT_EQ(next_of(run({"1"}, 0)),
            "Next: compare your code with ./distlab solution 1, then ./distlab start 2\n");
  EXPECT_TRUE(next_of(run({"2"}, 0))
                  .starts_with("Next: compare your code with ./distlab solution 2, then ./distlab train, a "
                               "complete training run"));
  EXPECT_EQ(next_of(run({"1", "--runner", root / "build/bin/lab_01_runner"}, 0)), "") << "no student's own";
}

TEST_F(GradeFiles, APictureIsOfferedOnlyWhereSomethingWasSent) {
  const auto offered = "      its messages as a picture: ./distlab trace 1\n";
  EXPECT_FALSE(contains(run({"1"}, 1), offered));
  judge(1, R"(
line '{"suite":"S","name":"two","part":2,"points":70,"result":"failed","seconds":0,"messages":["x"],"picture":true}'
line '{"done":true,"tests":2}'
exit 1)");
  EXPECT_TRUE(contains(run({"1"}, 1), offered));
}

TEST_F(GradeFiles, AJudgeThatComesToGriefLeavesUngradedEverywhere) {
  judge(1, "exit 0");
  EXPECT_TRUE(contains(run({"1"}, 3, all_formats), "This is an error of the grader, not of your code."));
  const auto json = Json::parse(read("json"));
  EXPECT_EQ(json.at("status"), "ungraded");
  EXPECT_FALSE(json.contains("score"));
  EXPECT_EQ(Json::parse(read("gradescope")).at("score"), 0);
  EXPECT_TRUE(Json::parse(read("gradescope")).at("tests").empty()) << "even those that had run";
  for (const auto& format : all_formats) EXPECT_TRUE(contains(read(format), "report has no end")) << format;
}

TEST_F(GradeFiles, WithoutAPlaceForTemporaryFilesItIsUngraded) {
  setenv("TMPDIR", "/nonexistent", 1);
  const auto said =
      run({"1"}, 3, all_formats) + run({"1", "--submission", root / "labs/01_first/first.cpp"}, 3);
  unsetenv("TMPDIR");
  const std::string line = "TMPDIR is /nonexistent, which is not a folder; create it, or unset TMPDIR\n";
  EXPECT_EQ(said, line + line);  // no student's fault
  EXPECT_EQ(Json::parse(read("gradescope")).at("extra_data").at("status"), "ungraded");
}

TEST_F(GradeFiles, AJudgeThatIsNotBuiltIsUngraded) {
  fs::remove(root / "build/bin/lab_01_grade");
  EXPECT_TRUE(contains(run({"1"}, 3, {"json"}), "lab_01_grade is not built"));
  EXPECT_EQ(Json::parse(read("json")).at("status"), "ungraded");
}

// The grader looks at what Gradescope would see: before its last test.
TEST_F(GradeFiles, GradescopeSeesTheTestsAsTheyEnd) {
  const auto file = (root / "gradescope").string();
  judge(1, "for i in $(seq 100); do grep -q 'first one' " + file + " && break; sleep 0.1; done\ncp " + file +
               " " + file + ".early\n" + passes);
  run({"1"}, 0, {"gradescope"});
  const auto early = Json::parse(read("gradescope.early"));
  EXPECT_EQ(early.at("score"), 30);
  EXPECT_EQ(early.at("tests").size(), 1U);
  EXPECT_TRUE(contains(early.at("output"), "grading has not finished"));
  EXPECT_FALSE(contains(Json::parse(read("gradescope")).at("output"), "not finished"));
}

TEST_F(GradeFiles, AllLabs) {
  run({"all"}, 1, {"json", "junit", "markdown", "csv"});
  const auto json = Json::parse(read("json"));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0].at("score"), 30);
  EXPECT_EQ(json[1].at("score"), 100);
  EXPECT_TRUE(contains(read("junit"), "<testsuites name=\"distlab\" tests=\"4\" failures=\"1\""));
  EXPECT_TRUE(contains(read("markdown"), "| ✅ | 02\\_second | 100 of 100 points |"));
  EXPECT_TRUE(contains(run({"all"}, 2, {"gradescope"}), "--gradescope is for one lab"));
}

TEST_F(GradeFiles, ALabThatCannotBeGradedDoesNotHideTheOthers) {
  judge(1, "exit 3");
  run({"all"}, 3, {"json"});
  const auto json = Json::parse(read("json"));
  EXPECT_EQ(json.at(0).at("status"), "ungraded");
  EXPECT_EQ(json.at(1).at("score"), 100);
}

TEST_F(GradeFiles, BegunLabsAreThoseWhoseFileHasChanged) {
  EXPECT_TRUE(contains(run({"begun"}, 0, {"json", "markdown"}), "You have not begun a lab yet"));
  EXPECT_EQ(Json::parse(read("json")), Json::array());
  EXPECT_TRUE(contains(read("markdown"), "No lab was graded"));
  write("labs/02_second/second.cpp", "int mine;\n");
  run({"begun"}, 0, {"json"});
  auto json = Json::parse(read("json"));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0].at("lab"), "02_second");
  fs::remove(root / "labs/01_first/first.cpp");
  run({"begun"}, 1, {"json"});
  EXPECT_EQ(Json::parse(read("json")).size(), 2U) << "what is gone is not untouched";
}

TEST_F(GradeFiles, AFileThatCannotBeWrittenIsSaid) {
  const auto said = run({"2", "--csv", "/nowhere/x.csv"}, 3);
  EXPECT_TRUE(contains(said, "/nowhere/x.csv: there is no folder /nowhere; make it: mkdir -p /nowhere"))
      << said;
}

}  // namespace
