// Progress: what this reader has reached in each lab, in one file that a person can read: .distlab/progress.
#pragma once

#include <map>
#include <string>

namespace distlab {

struct LabProgress {
  int best = 0, last = 0;  // points of 100
  std::string when;        // of the last grade: "2026-11-21 20:31"
};

// By the lab's folder; empty when there is no such file. Lines that are no progress are skipped.
std::map<std::string, LabProgress> read_progress();
// Says in one line on standard error when it cannot be written; a grade is worth as much without it.
void note_progress(const std::string& lab, int score);

}  // namespace distlab
