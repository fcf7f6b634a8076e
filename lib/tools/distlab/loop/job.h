// Job: a child process with a process group of its own, so that it can be stopped together with all processes
// that it has started. Reading its output does not block.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab::loop {

class Job {
 public:
  // Starts argv[0], a path, without standard input. Throws dist::Error{resource} when that is not possible.
  explicit Job(const std::vector<std::string>& argv);
  ~Job() { stop(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid() const { return group_; }  // 0 after exit_code() or stop()
  // The child's standard output and error; readable when read_lines() has something to do.
  int fd() const { return output_.get(); }
  // Returns the lines that are complete now. Afterwards has_ended() says whether there can be more.
  std::vector<std::string> read_lines();
  bool has_ended() const { return ended_; }
  // Waits for a job that has ended, and returns its exit code, or 128 + signal.
  int exit_code();
  // Ends the whole group: first with SIGTERM, so that half-written files are removed, then with SIGKILL.
  void stop();

 private:
  pid_t group_ = 0;  // 0: the child has been reaped
  int status_ = 0;
  dist::UniqueFd output_;
  std::string pending_;
  bool ended_ = false;
};

}  // namespace distlab::loop
