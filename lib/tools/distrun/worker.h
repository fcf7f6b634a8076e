// Worker: the process of one rank.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

#include "signals.h"

namespace distrun {

// The program that all ranks run. Its path is found once, so that a wrong name gives one message, not one per
// rank.
struct Command {
  std::string path;
  std::vector<std::string> arguments;  // arguments[0] is the name as typed
};
// Throws Error{invalid_argument} when there is no such program on PATH or at this path, or it is not
// executable; the message says what to do.
Command find_program(const std::vector<std::string>& program);

// A running process, the leader of a process group of its own. It dies with the thread that started it. The
// destructor kills the group and reaps the leader.
class Worker {
 public:
  struct Setup {
    const InheritedSignals& signals;  // which the rank inherits
    std::vector<std::string> environment;
    bool reads_stdin = false;  // otherwise /dev/null
    bool on_terminal = false;  // stdout is a terminal: programs write each line at once
  };
  // Throws Error{resource} or Error{invalid_argument} with the system's reason.
  Worker(const Command& command, const Setup& setup);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();

  pid_t pid() const { return pid_; }
  int out() const { return out_.get(); }  // the read ends of its streams, non-blocking
  int err() const { return err_.get(); }
  void close_out() { out_.reset(); }
  void close_err() { err_.reset(); }
  // Sends the signal to the whole group. Does nothing once the leader has been reaped.
  void send_signal(int number) const;
  // Returns whether it has ended, without blocking. If it has, kills the rest of its group and reaps the
  // leader.
  bool reap();
  int status() const { return status_; }  // as waitpid(2) gives it, after reap()
  bool is_reaped() const { return pid_ >= 0 && reaped_; }

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  dist::UniqueFd out_, err_;
};

// "exit code 3", "killed by signal 9 (Killed)".
std::string describe_status(int status);
std::string signal_name(int number);  // "SIGTERM", "signal 45"
int exit_code_of(int status);         // 128 + signal for a signal

}  // namespace distrun
