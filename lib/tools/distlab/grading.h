// A grade: runs a lab's grading program and reads its report as it is written.
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
  enum class Result { passed, failed, todo };  // todo: what it asks for is not written yet

  std::string name;  // "Part1Place.even_nodes"
  int part = 0;      // of the handout
  int points = 0;    // got
  int max_points = 0;
  Result result = Result::failed;
  double seconds = 0;                 // that it took
  std::vector<std::string> messages;  // what is wrong, in words
  bool has_picture = false;           // `distlab trace` can draw what its ranks sent
  std::string misconception;          // the diagnosis, if there is one: a name ...
  std::string explanation;            // ... and a sentence
};

// A test's name for people: "even nodes" of "Part1Place.even_nodes".
std::string title_of(std::string_view test);

struct Grade {
  int score = 0, max_score = 0;
  std::string seed;         // brings the same questions back
  std::string isolation;    // of the graded processes: "bubblewrap", "user_id", "limits"
  bool is_trusted = false;  // a submission that was compiled and run apart from all it must not see
  std::vector<GradedTest> tests;
  bool is_full() const { return score == max_score; }
};

// Gets the grade of the tests so far: their points, and of how many.
using GradeSink = std::function<void(const Grade&)>;

struct GradeRequest {
  std::filesystem::path program = {};  // the judge
  std::filesystem::path runner = {};   // what is graded
  std::optional<std::uint64_t> seed = {};
  GradeSink on_test = {};             // called as each test ends; empty: nobody waits for it
  std::string filter = {};            // GoogleTest's, of tests; empty: all
  std::filesystem::path traces = {};  // a folder for the trace of each test's run; empty: none
};

// Throws dist::Error{internal} when the judge could not do its work: nothing is graded then. `on_test` does
// not throw.
Grade run_grading(const GradeRequest& request);

// One run of `distlab grade`: what its result files tell (results/).
struct GradeRecord {
  std::string lab;             // its folder
  std::string graded_file;     // "lab", "solution", "submission" or "runner"
  std::optional<Grade> grade;  // nothing: the judge could not do its work, and ...
  std::string reason;          // ... why. Beside a grade without tests: why there was nothing to test
  bool is_finished = true;     // false: the judge is at work, and the grade is that of the tests so far
};

std::string_view name(GradedTest::Result result);

}  // namespace distlab
