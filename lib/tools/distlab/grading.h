// Grades: run_grading() runs a lab's grader and reads its report while it is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {

inline constexpr int full_score = 100;  // of each lab

struct GradedTest {
  enum class Result { passed, failed, todo };  // todo: the function that it tests is not written yet

  std::string name;  // "Part1Place.even_nodes"
  int part = 0;      // of the handout
  int points = 0;    // got
  int max_points = 0;
  Result result = Result::failed;
  double seconds = 0;                 // that it took
  std::vector<std::string> messages;  // that say what is wrong
  bool has_picture = false;           // whether `distlab trace` can draw the messages of the test's ranks
  std::string misconception;          // the diagnosis, if there is one: its name ...
  std::string explanation;            // ... and a sentence
};

// Returns the readable name of a test: "even nodes" for "Part1Place.even_nodes".
std::string title_of(std::string_view test);

struct Grade {
  int score = 0, max_score = 0;
  std::string seed;         // of the random tests
  std::string isolation;    // of the graded processes: "bubblewrap", "user_id", "limits"
  bool is_trusted = false;  // the submission was compiled and run in the sandbox
  std::vector<GradedTest> tests;
  int planned = 0;  // how many tests there will be; 0: not known yet
  bool is_full() const { return score == max_score; }
};

// Returns which test is running: "testing 7 of 18".
std::string running_test(const Grade& so_far);

// Is called with the grade of the tests so far.
using GradeSink = std::function<void(const Grade&)>;

struct GradeRequest {
  std::filesystem::path program = {};  // the grader
  std::filesystem::path runner = {};   // the program to grade
  std::optional<std::uint64_t> seed = {};
  GradeSink on_test = {};             // called before the first test and after each; may be empty
  std::string filter = {};            // GoogleTest's, of tests; empty: all
  std::filesystem::path traces = {};  // a folder for the trace of each test's run; empty: none
  std::int64_t build_work_ms = 0;     // how long the tools that built the submission's program worked
};

// Throws dist::Error{internal} when the grader could not do its work; then nothing is graded. `on_test` must
// not throw.
Grade run_grading(const GradeRequest& request);

// One run of `distlab grade`, as its result files describe it (results/).
struct GradeRecord {
  std::string lab;             // its folder
  std::string graded_file;     // "lab", "solution", "submission" or "runner"
  std::optional<Grade> grade;  // no value: the grader could not do its work
  std::string reason;          // why there is no grade, or why a grade has no tests
  std::string note = {};       // which of several files was graded, if it was not clear
  bool is_finished = true;     // false: the grader is running; the grade is that of the tests so far
};

std::string_view name(GradedTest::Result result);

}  // namespace distlab
