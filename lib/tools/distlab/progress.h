// Progress: what this reader has reached in each lab, in one file that a person can read: .distlab/progress.
// A line for each lab, and below it, indented, what its last grade said:
//
//   # lab                            best last  when
//   03_send_recv                       75   75  2026-11-21 20:31
//       seed       2301693563
//       failing    Part2Exchange.two_ranks_swap
//       part       2
//       diagnosis  both_send_first: a blocking send returns when the partner receives, ...
//       hints      1
#pragma once

#include <istream>
#include <map>
#include <ostream>
#include <string>

namespace distlab {

struct Grade;

struct LabProgress {
  int best = 0, last = 0;                  // points of 100
  std::string when;                        // of the last grade: "2026-11-21 20:31"; empty: not graded yet
  std::string seed;                        // that brings its questions back
  std::string failing;                     // its first test that failed; empty: none
  int part = 0;                            // of that test
  std::string misconception, explanation;  // its diagnosis, if there is one
  int hints = 0;                           // how many were shown since this test fails in this way

  bool is_graded() const { return !when.empty(); }
  bool is_solved() const { return best == 100; }
};

using Progress = std::map<std::string, LabProgress>;  // by the lab's folder

// Empty when there is no such file. Lines that are no progress are skipped.
Progress read_progress();
// Says in one line on standard error when it cannot be written; a grade is worth as much without it.
void write_progress(const Progress& progress);

// As the file has it.
Progress parse_progress(std::istream& text);
void print_progress(std::ostream& text, const Progress& progress);

// What a lab's progress is after this grade. Hints begin anew when another test fails now, or in another
// way.
LabProgress after_grade(const LabProgress& before, const Grade& grade);
// What was graded is no longer there: only the best points stay, for which the solution may be seen.
void forget_grade(const std::string& lab);
// after_grade() of now, into the file.
void note_progress(const std::string& lab, const Grade& grade);

}  // namespace distlab
