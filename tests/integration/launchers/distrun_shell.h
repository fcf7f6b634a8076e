// distrun with `sh -c script` as its program, and what its output holds.
#pragma once

#include <string>
#include <vector>

#include "run_program.h"

namespace dist_test {

// distrun's arguments, then `sh -c script`.
inline std::vector<std::string> shell(std::vector<std::string> flags, const std::string& script) {
  flags.insert(flags.begin(), DISTRUN);
  for (const char* word : {"sh", "-c", script.c_str()}) flags.emplace_back(word);
  return flags;
}
inline Ran run_shell(const std::vector<std::string>& flags, const std::string& script,
                     const std::vector<std::string>& environment = {}) {
  return run_program(shell(flags, script), environment);
}

// `bash -c script`, with $distrun in it.
inline Ran run_bash(const std::string& script) {
  return run_program({"bash", "-c", script}, {"OMP_NUM_THREADS=1", std::string("distrun=") + DISTRUN});
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Line number of the first line that contains `part`, or -1.
inline int line_with(const std::string& text, const std::string& part) {
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (contains(lines[i], part)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace dist_test
