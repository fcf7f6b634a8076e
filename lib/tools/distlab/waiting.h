// Waiting: on a terminal, says what a command is doing while nothing else is printed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "distlab/terminal.h"

namespace distlab {

// A line that is rewritten in place every second: "testing 7 of 18, 12 s so far". Without a terminal it is
// not shown. All calls come from one thread, and while the line is shown nothing else may be printed.
class Waiting {
 public:
  // `since`: what the seconds count from.
  explicit Waiting(std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now())
      : since_(since) {}
  explicit Waiting(std::string what) : Waiting() { show(std::move(what)); }
  // Erases the line. Its end by an exception, such as Ctrl-C's, leaves the terminal as it was.
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void show(std::string what);
  // Erases the line until the next show().
  void clear();

 private:
  void draw();
  void tick();

  const std::chrono::steady_clock::time_point since_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // empty: nothing is shown
  bool has_ended_ = false;
  ProgressLine line_;
  std::thread ticker_;  // begins with the first show()
};

}  // namespace distlab
