// Exam: what a grading test says besides passed or failed: what it is worth, which part of the lab it looks
// at, and which misconception a wrong answer shows. They are in the report (report.h) that `distlab grade`
// reads.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "judge/frame.h"

namespace judge {

struct Outcome;

// First line of every grading test: its points out of the lab's 100, and the part of the handout it belongs
// to.
void worth(int points, int part);

// Names the misconception that a wrong answer shows. The first one of a test stays: later ones are
// consequences.
void misconception(std::string_view name, std::string_view in_words);

// Fails the test when this rank has not completed, saying how it ended and what it printed. `who`: "rank 2".
bool has_completed(const Outcome& outcome, std::string_view who);
bool all_completed(const std::vector<Outcome>& outcomes);  // each of them, by its number

// The value of an attempt() in a runner. Fails the test, and returns null, when it was an error instead;
// `who` says whose: "rank 2". A DIST_TODO is recorded as such.
Json value_of(const Json& attempt, std::string_view who);
// The other way round: the attempt must have thrown an error with this code. Its text, or "" after a failure.
std::string error_of(const Json& attempt, std::string_view code, std::string_view who,
                     std::string_view expected);
bool is_error(const Json& attempt);
bool is_todo(const Json& attempt);  // what it asks for is not written yet

// Numbers that no one can know in advance, and that `--seed` brings back. `purpose` separates the streams of
// tests.
class Random {
 public:
  explicit Random(std::string_view purpose);
  int between(int low, int high);  // both included
  std::string word(int letters);   // lower case
  std::string bytes(int count);    // any bytes
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[between(0, static_cast<int>(i) - 1)]);
  }

 private:
  std::mt19937_64 engine_;
};

// Runs the tests of this program: --runner PATH [--seed S] [--report FILE] [--traces FOLDER] [--build-work-ms
// MS] (what the tools that made the runner have worked: judge_build says it) and GoogleTest's options. The
// exit status: 0 all passed, 1 something failed, 2 wrong usage, 3 the grader itself could not do its work
// (then the report has no last line).
int run_exam(int argc, char** argv);

// From the command line.
const std::string& runner();  // --runner PATH: the program with the code that is graded
std::uint64_t seed();         // --seed S, or a fresh one
const std::string& traces();  // --traces FOLDER: where the runs of the tests leave theirs; empty: nowhere

// Bytes for a reader: printable ones as they are, others as \xNN, long ones shortened. In double quotes.
std::string shown(std::string_view bytes);

}  // namespace judge
