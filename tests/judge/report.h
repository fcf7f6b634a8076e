// Report: what a grading program tells `distlab grade`, one line of JSON as each test ends. First a line with
// what holds for all of them, and a last line that says how many there were: without it the grader has
// failed, and nothing is graded.
//   {"isolation":"bubblewrap","seed":"17"}
//   {"planned":18}
//   {"suite":"Part1Place","name":"even_nodes","part":1,"points":5,"result":"passed","seconds":0.01,"messages":[]}
//   {...,"result":"failed","messages":["rank 2"],"picture":true,"misconception":{"name":"...","text":"..."}}
//   {"done":true,"tests":2}
// "planned" is how many tests are to run, which a reader may show while they do. "result" is "todo" where the
// code under test has a DIST_TODO; a test that skips itself has failed. "picture" where `distlab trace` has
// something to draw.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "judge/frame.h"

namespace judge {

// Whether this failure is an exception that has left a test: it has no place in a file.
bool is_exception(const testing::TestPartResult& part);

// Throws std::runtime_error when a line cannot be written. How many tests have ended, progress() says.
class Report : public testing::EmptyTestEventListener {
 public:
  Report(const std::string& path, std::uint64_t seed, std::string_view isolation);
  void OnTestProgramStart(const testing::UnitTest& tests) override;
  void OnTestEnd(const testing::TestInfo& test) override;
  // A test that has ended its process (watched_tests.h).
  void broken(std::string_view suite, std::string_view test, std::string_view how);
  void end();

 private:
  void write(const Json& line);
  std::string path_;
  std::ofstream file_;
};

}  // namespace judge
