// Waiting: on a terminal, says what a command is doing while nothing else is printed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "distlab/terminal.h"

namespace distlab {

// Returns "about 40 s left" when this share of the work (above 0, up to 1) has taken so long.
std::string time_left(std::chrono::duration<double> taken, double share);

// Returns " [====    ]", or nothing where the terminal has no room for it beside the figures.
std::string progress_bar(double share);

// A line that is rewritten in place every second: "testing 7 of 18, 12 s so far". Without a terminal it is
// not shown. All calls come from one thread, and while the line is shown nothing else may be printed.
class Waiting {
 public:
  // Returns how much of the work is done, from 0 (not known) to 1. Is called by another thread.
  using Share = std::function<double()>;

  // Without ticks the line changes only with show(), and there is no second thread: where time is measured,
  // that would make locks and reference counts slower.
  enum class Ticks { every_second, none };

  explicit Waiting(Ticks ticks = Ticks::every_second) : ticks_(ticks) {}
  // Shows that after half a second; what is done sooner needs no line.
  explicit Waiting(std::string what, Share share = {});
  // Erases the line. Its end by an exception, such as Ctrl-C's, leaves the terminal as it was.
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Once `share` says how much is done, the line has the time that is left instead of the time so far.
  void show(std::string what, Share share = {});
  // The same, after `done` of `all` equal parts: "measuring 4 of 15, about 8 s left".
  void show(const std::string& what, std::size_t done, std::size_t all);
  // Erases the line until the next show().
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void begin_ticking();
  void draw();
  void tick();

  const Ticks ticks_ = Ticks::every_second;
  const Clock::time_point since_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // empty: nothing is shown
  Share share_;
  bool has_ended_ = false;
  ProgressLine line_;
  std::thread ticker_;  // begins with the first show()
};

}  // namespace distlab
