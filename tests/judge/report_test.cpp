// The report of a grading program: this program once more, as the grader of the samples below. They are
// disabled, so that they run only when they are asked for.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <sys/wait.h>

#include "judge/exam.h"
#include "judge/numbers.h"
#include "judge/progress.h"
#include "judge/team.h"
#include "judge/trouble.h"

namespace {

namespace fs = std::filesystem;
using judge::Json;

TEST(Sample, DISABLED_passes) { judge::worth(10, 1); }

TEST(Sample, DISABLED_fails) {
  judge::worth(5, 2);
  judge::misconception("rank_0_assumed", "the root is rank 0");
  judge::misconception("a consequence", "of it");
  ADD_FAILURE() << "rank 2: \"a\"\nand\tb: \xff\n";
  EXPECT_EQ(1, 2) << std::string(20'000, 'x');
}

TEST(Sample, DISABLED_is_not_written_yet) {
  judge::worth(7, 3);
  judge::value_of({{"error", {{"what", "lab 01, part 3: f"}, {"todo", true}}}}, "rank 0");
}

TEST(Sample, DISABLED_skips_itself) {
  judge::worth(3, 3);
  GTEST_SKIP() << "no GPU";
}

TEST(Answer, DISABLED_of_another_form) {
  judge::worth(4, 1);
  EXPECT_EQ(Json({{"signal", "none"}}).value("signal", 0), 1);
}
TEST(Answer, DISABLED_out_of_range) {
  judge::worth(4, 1);
  throw std::out_of_range("sample 7 of 5");
}
TEST(Slept, DISABLED_passes_alone) {
  judge::worth(4, 2);
  judge::progress().has_slept_too_long = true;
  EXPECT_TRUE(judge::progress().is_second_try);
}
TEST(Slept, DISABLED_fails_again) {
  judge::worth(4, 2);
  judge::progress().has_slept_too_long = true;
  ADD_FAILURE() << "again";
}
TEST(Broken, DISABLED_by_an_answer) {
  judge::worth(4, 2);
  *reinterpret_cast<volatile int*>(std::uintptr_t{8}) = 0;
}
TEST(Broken, DISABLED_by_another) {
  judge::worth(2, 2);
  std::abort();
}
TEST(Patience, DISABLED_of_the_runs_before) {
  judge::worth(4, 3);
  judge::progress().beyond = std::chrono::hours(1);
  judge::Team(judge::runner(), 1);
}
TEST(Patience, DISABLED_is_left) {
  judge::worth(4, 3);
  EXPECT_EQ(judge::progress().beyond, std::chrono::seconds(2));
}
TEST(Trouble, DISABLED_is_killed) { ::raise(SIGKILL); }
TEST(Trouble, DISABLED_of_the_judge) { throw judge::Trouble("no memory"); }
TEST(Trouble, DISABLED_ends_the_judge) { std::exit(0); }

struct Run {
  int exit_code = 0;
  std::vector<Json> lines;   // of the report, without ...
  std::vector<int> planned;  // ... how many tests were to run
};

// This program, as a grader of these tests.
Run run_samples(const std::string& filter, const std::string& more = "") {
  std::string folder = fs::temp_directory_path() / "distlab-report-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const auto program = fs::read_symlink("/proc/self/exe").string();
  const auto report = folder + "/report";
  const int status =
      std::system(fmt::format("'{0}' --runner '{0}' --seed 17 --report '{1}' --gtest_filter='{2}' {3} "
                              "--gtest_also_run_disabled_tests > /dev/null 2>&1",
                              program, report, filter, more)
                      .c_str());
  Run run{.exit_code = WEXITSTATUS(status), .lines = {}, .planned = {}};
  std::ifstream file(report);
  for (std::string text; std::getline(file, text);) {
    const auto line = Json::parse(text);
    if (line.contains("planned"))
      run.planned.push_back(line.at("planned"));
    else
      run.lines.push_back(line);
  }
  fs::remove_all(folder);
  return run;
}

TEST(Report, has_a_line_for_each_test_and_a_last_one) {
  const auto run = run_samples("Sample.*");
  EXPECT_EQ(run.exit_code, 1);
  ASSERT_EQ(run.lines.size(), 6U);
  EXPECT_EQ(run.lines[0].at("seed"), "17");
  EXPECT_TRUE(run.lines[0].at("isolation").is_string());
  auto passed = run.lines[1];
  EXPECT_TRUE(passed.at("seconds").is_number());
  passed.erase("seconds");
  EXPECT_EQ(passed, (Json{{"suite", "Sample"},
                          {"name", "DISABLED_passes"},
                          {"part", 1},
                          {"points", 10},
                          {"result", "passed"},
                          {"messages", Json::array()}}));
  EXPECT_EQ(run.lines[5], (Json{{"done", true}, {"tests", 4}}));
}

TEST(Report, says_once_how_many_tests_there_will_be_even_if_one_breaks_its_process) {
  EXPECT_EQ(run_samples("Sample.*").planned, std::vector{4});
  EXPECT_EQ(run_samples("Broken.*:Sample.DISABLED_passes").planned, std::vector{3});
}

// What only a clock can measure may be the machine's.
TEST(Report, a_test_whose_run_slept_too_long_is_tried_again_after_all_others) {
  const auto run = run_samples("Slept.*:Sample.DISABLED_passes");
  EXPECT_EQ(run.planned, std::vector{3});
  ASSERT_EQ(run.lines.size(), 5U);
  EXPECT_EQ(run.lines[1].at("name"), "DISABLED_passes");
  EXPECT_EQ(run.lines[2].at("result"), "passed") << "DISABLED_passes_alone";
  EXPECT_EQ(run.lines[3].at("messages"), Json::array({"again"}));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run_samples("Slept.DISABLED_passes_alone").exit_code, 0);
}

TEST(Report, names_what_was_never_written) {
  EXPECT_EQ(judge::with_never_written("element 2 is -26711958 and not 7"),
            "element 2 is -26711958 (never written) and not 7");
  EXPECT_EQ(judge::with_never_written(fmt::format("got {:.6g}", -1.363115719988382e+57)),
            "got -1.36312e+57 (never written)");
  EXPECT_EQ(judge::with_never_written("{-2, -3} -3761688987579986997"),
            "{-2, -3} -3761688987579986997 (never written)");
  EXPECT_EQ(judge::with_never_written("-26000000, rank-1"), "-26000000, rank-1");
}

TEST(Report, says_what_is_wrong_and_nothing_else) {
  const auto failed = run_samples("Sample.DISABLED_fails").lines.at(1);
  EXPECT_EQ(failed.at("result"), "failed");
  EXPECT_EQ(failed.at("misconception"), (Json{{"name", "rank_0_assumed"}, {"text", "the root is rank 0"}}));
  ASSERT_EQ(failed.at("messages").size(), 2U);
  EXPECT_EQ(failed.at("messages")[0], "rank 2: \"a\"\nand\tb: \xef\xbf\xbd");  // U+FFFD for what is not UTF-8
  EXPECT_LT(failed.at("messages")[1].get<std::string>().size(), 10'000U);
}

TEST(Report, tells_what_is_not_written_yet_from_what_is_wrong) {
  const auto todo = run_samples("Sample.DISABLED_is_not_written_yet").lines.at(1);
  EXPECT_EQ(todo.at("result"), "todo");
  EXPECT_EQ(todo.at("messages"), Json::array({"lab 01, part 3: f"}));
}

TEST(Report, never_counts_a_skipped_test_as_passed) {
  const auto run = run_samples("Sample.DISABLED_skips_itself");
  EXPECT_EQ(run.lines.at(1).at("result"), "failed");
  EXPECT_EQ(run.lines.at(1).at("messages"), Json::array({"skipped: no GPU"}));
}

TEST(Report, an_answer_of_another_form_is_a_wrong_one) {
  const auto run = run_samples("Sample.DISABLED_passes:Answer.*");
  EXPECT_EQ(run.exit_code, 1);
  ASSERT_EQ(run.lines.size(), 5U);
  EXPECT_EQ(run.lines[3].at("messages"),
            Json::array({"a rank answered what cannot be graded: sample 7 of 5"}));
  EXPECT_EQ(run.lines[2].at("result"), "failed");
  ASSERT_EQ(run.lines[2].at("messages").size(), 1U);
  EXPECT_TRUE(
      run.lines[2].at("messages")[0].get<std::string>().starts_with("a rank answered what cannot be"));
}

TEST(Report, an_answer_that_breaks_its_reader_is_a_wrong_one) {
  const auto run = run_samples("Broken.*:Sample.DISABLED_passes:Answer.DISABLED_out_of_range");
  EXPECT_EQ(run.exit_code, 1);
  ASSERT_EQ(run.lines.size(), 6U);
  const auto line_of = [&](const std::string& name) {
    const auto is_it = [&](const Json& line) { return line.value("name", "") == name; };
    return *std::ranges::find_if(run.lines, is_it);
  };
  const auto broken = line_of("DISABLED_by_an_answer");
  EXPECT_EQ(broken.at("result"), "failed");
  EXPECT_EQ(broken.at("points"), 4);
  EXPECT_EQ(broken.at("part"), 2);
  EXPECT_NE(broken.at("messages").at(0).get<std::string>().find("by signal 11 (Segmentation fault)"),
            std::string::npos);
  EXPECT_EQ(line_of("DISABLED_by_another").at("points"), 2);
  EXPECT_EQ(line_of("DISABLED_passes").at("result"), "passed");
  EXPECT_EQ(line_of("DISABLED_out_of_range").at("result"), "failed");
  EXPECT_EQ(run.lines[5], (Json{{"done", true}, {"tests", 4}}));
}

TEST(Report, a_test_that_is_not_tried_has_failed) {
  const auto run = run_samples("Sample.DISABLED_passes:Patience.DISABLED_of_the_runs_before");
  EXPECT_EQ(run.exit_code, 1);
  ASSERT_EQ(run.lines.size(), 4U);
  EXPECT_EQ(run.lines[2].at("result"), "failed");
  EXPECT_EQ(run.lines[2].at("points"), 4);
  ASSERT_EQ(run.lines[2].at("messages").size(), 1U);
  const std::string message = run.lines[2].at("messages")[0];
  EXPECT_TRUE(message.starts_with("not tried: the ranks of earlier runs have taken")) << message;
  EXPECT_EQ(run.lines[3], (Json{{"done", true}, {"tests", 2}}));
}

TEST(Report, takes_what_the_tools_have_worked_from_the_runs) {
  EXPECT_EQ(run_samples("Patience.DISABLED_is_left", "--build-work-ms 12000").lines.at(1).at("result"),
            "passed");
  EXPECT_EQ(run_samples("Patience.DISABLED_is_left", "--build-work-ms 9000").lines.at(1).at("result"),
            "failed")
      << "nothing: tools may work for 10 s";
}

TEST(Report, has_no_end_when_the_judge_comes_to_grief) {
  for (const auto* how :
       {"Trouble.DISABLED_of_the_judge", "Trouble.DISABLED_ends_the_judge", "Trouble.DISABLED_is_killed"}) {
    const auto run = run_samples(std::string("Sample.DISABLED_passes:") + how);
    ASSERT_EQ(run.lines.size(), 2U) << how;
    EXPECT_EQ(run.lines[1].at("name"), "DISABLED_passes") << how;
  }
  EXPECT_EQ(run_samples("Trouble.DISABLED_of_the_judge").exit_code, 3);
}

TEST(Report, that_cannot_be_written_is_the_judges_own_fault) {
  const auto program = fs::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      fmt::format("'{0}' --runner '{0}' --report /dev/full --gtest_filter=Frames.* > /dev/null 2>&1", program)
          .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
