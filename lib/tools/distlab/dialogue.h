// Dialogue: a child process that answers questions, a line each.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab {

class Dialogue {
 public:
  // Starts argv[0], found in PATH. Its standard error is ours. dist::Error{resource} when that fails.
  explicit Dialogue(const std::vector<std::string>& argv);
  ~Dialogue();  // ends it
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  // Blocks until the answer is there, without its newline; empty when the process has ended instead.
  std::string ask(const std::string& line);

 private:
  dist::UniqueFd line_;  // the child's standard input and output
  pid_t child_ = 0;
  std::string heard_;  // more than the last answer
};

}  // namespace distlab
