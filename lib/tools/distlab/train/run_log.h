// The record of a run: one JSON object per line, for each step and each evaluation (train --log).
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>

namespace distlab {

class RunLog {
 public:
  // `appends`: after what is in the file, as a run that is resumed does. An empty path: writes nothing.
  // Throws Error{invalid_argument} if the file cannot be written.
  RunLog(const std::filesystem::path& file, bool appends);

  struct Value {
    std::string_view name;
    double value;  // not a number: null
  };
  // One line, with "seconds" since the beginning of this run and "memory_mib", the most of this rank so far.
  // Throws Error{resource} when it cannot be written.
  void write(std::initializer_list<Value> values);

 private:
  using Clock = std::chrono::steady_clock;
  const std::filesystem::path path_;
  std::ofstream out_;
  const Clock::time_point began_ = Clock::now();
};

double peak_mib();  // the most memory that this process has had

}  // namespace distlab
