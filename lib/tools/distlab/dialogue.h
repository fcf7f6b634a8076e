// Dialogue: a child process that answers each line with a line.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab {

class Dialogue {
 public:
  // Starts argv[0], found in PATH, with the standard error of this process. Throws dist::Error{resource} when
  // that fails.
  explicit Dialogue(const std::vector<std::string>& argv);
  ~Dialogue();  // ends it
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  // Blocks until the answer arrives and returns it without its newline. Returns an empty text when the
  // process has ended.
  std::string ask(const std::string& line);

 private:
  dist::UniqueFd line_;  // the child's standard input and output
  pid_t child_ = 0;
  std::string heard_;  // what came after the last answer
};

}  // namespace distlab
