// Progress: what the student has reached in each lab, in one readable file, .distlab/progress. It has a line
// for each lab, and below it, indented, the details of the last grade:
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
  int best = 0, last = 0;  // points of 100
  std::string when;        // time of the last grade: "2026-11-21 20:31"; empty: not graded yet
  std::string seed;        // of its random tests
  std::string failing;     // its first failing test; empty: none
  int part = 0;            // of that test
  std::string misconception, explanation;  // its diagnosis, if there is one
  int hints = 0;                           // how many were shown since the test began to fail in this way

  bool is_graded() const { return !when.empty(); }
  bool is_solved() const { return best == 100; }
};

using Progress = std::map<std::string, LabProgress>;  // by the lab's folder

// Returns an empty Progress when there is no such file. Skips lines that it cannot read.
Progress read_progress();
// If the file cannot be written, prints one line on standard error: the grade itself is still valid.
void write_progress(const Progress& progress);

// Read and write the format of the file.
Progress parse_progress(std::istream& text);
void print_progress(std::ostream& text, const Progress& progress);

// Returns a lab's progress after this grade. Hints start again when another test fails now, or the same test
// fails in another way.
LabProgress after_grade(const LabProgress& before, const Grade& grade);
// The graded file no longer exists: keeps only the best points, which decide whether the solution may be
// shown.
void forget_grade(const std::string& lab);
// Writes after_grade() with the current time into the file.
void note_progress(const std::string& lab, const Grade& grade);

}  // namespace distlab
