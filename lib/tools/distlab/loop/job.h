// Job: a child process with a process group of its own, so that it can be stopped with all that it has
// started. Its output is read without waiting.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distlab::loop {

class Job {
 public:
  // Starts argv[0] (a path) without standard input. Throws dist::Error{resource} when that is not possible.
  explicit Job(const std::vector<std::string>& argv);
  ~Job() { stop(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t pid() const { return group_; }  // 0 when it has been waited for
  // Standard output and error: readable when read_lines() has something to do.
  int fd() const { return output_.get(); }
  // The lines that are complete now. Afterwards has_ended() says whether there will be more.
  std::vector<std::string> read_lines();
  bool has_ended() const { return ended_; }
  // Waits for a job that has ended; its exit code, or 128 + signal.
  int exit_code();
  // Ends the whole group: asks first, so that half-written files are removed, and does not ask twice.
  void stop();

 private:
  pid_t group_ = 0;  // 0: has been waited for
  int status_ = 0;
  dist::UniqueFd output_;
  std::string pending_;
  bool ended_ = false;
};

}  // namespace distlab::loop
