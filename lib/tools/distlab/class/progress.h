// Prints the progress while a class is graded: a line for each submission that is done, and on a terminal one
// line that says how far the grading is.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "distlab/class/class_result.h"
#include "distlab/terminal.h"

namespace distlab {

class ClassProgress {
 public:
  // `to_do` of `all` submissions are not graded yet.
  ClassProgress(std::size_t all, std::size_t to_do);
  void add(const ClassResult& result);
  void show(const std::vector<std::string>& names);

 private:
  std::string time_left() const;

  const std::size_t all_, to_do_;
  std::size_t done_ = 0;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  ProgressLine line_;
};

// Returns any bytes as text for one line of a terminal.
std::string in_a_line(const std::string& bytes);

}  // namespace distlab
