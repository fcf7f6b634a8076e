// Programs as a user sees them: what they print, how they end, what they leave behind.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"

namespace dist_test {

struct Ran {
  int code = -1;  // exit code, or 128 + signal
  std::string out, err;
  double seconds = 0;
};

// A program under way. The destructor kills it.
class Running {
 public:
  // `environment`: NAME=value on top of this process's; a bare NAME is removed.
  explicit Running(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment = {}, const std::string& input = "");
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void send_signal(int number) const;
  // Reads until its stdout contains `text`; false when it ends or `seconds` pass before that.
  bool wait_for_output(const std::string& text, double seconds = 20);
  // Waits for its end; after `seconds` it is killed, and the code is 137.
  Ran wait(double seconds = 60);
  const std::string& out() const { return ran_.out; }

 private:
  void read_some(int patience_ms);
  pid_t pid_ = -1;
  bool ended_ = false;
  std::chrono::steady_clock::time_point start_;
  dist::UniqueFd out_, err_;
  Ran ran_;
};

Ran run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                const std::string& input = "");

std::vector<std::string> lines_of(const std::string& text);
bool is_alive(pid_t pid);  // and no zombie
bool is_gone_within(pid_t pid, double seconds);
std::string temporary_folder();  // a fresh one
std::string read_file(const std::string& path);

}  // namespace dist_test
