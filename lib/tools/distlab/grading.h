// A grade: runs a lab's grading program and reads its report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {

struct GradedTest {
  enum class Result { passed, failed, todo };  // todo: what it asks for is not written yet

  std::string name;  // "Step1Place.even_nodes"
  int step = 0;      // of the handout
  int points = 0;    // got
  int max_points = 0;
  Result result = Result::failed;
  std::vector<std::string> messages;  // what is wrong, in words
  std::string misconception;          // the diagnosis, if there is one: a name ...
  std::string explanation;            // ... and a sentence
};

struct Grade {
  int score = 0, max_score = 0;
  std::string seed;       // brings the same questions back
  std::string isolation;  // of the graded processes: "bubblewrap", "user_id", "limits"
  std::vector<GradedTest> tests;
  bool is_full() const { return score == max_score; }
};

struct GradeRequest {
  std::filesystem::path program;  // the judge
  std::filesystem::path runner;   // what is graded
  std::optional<std::uint64_t> seed;
  std::string filter = {};            // GoogleTest's, of tests; empty: all
  std::filesystem::path traces = {};  // a folder for the trace of each test's run; empty: none
};

// Throws dist::Error{internal} when the judge could not do its work: nothing is graded then.
Grade run_grading(const GradeRequest& request);

std::string_view name(GradedTest::Result result);

}  // namespace distlab
