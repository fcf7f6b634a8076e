// The output of many ranks on one console: whole lines, each with its rank in front; what has no newline yet
// is shown after a moment.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"

namespace distrun {

// distrun's own stdout or stderr. It keeps what cannot be written yet, so that a slow reader never blocks the
// event loop.
class Outlet {
 public:
  explicit Outlet(int fd);
  void add(std::string_view text) { pending_ += text; }
  void say(std::string_view line);  // adds distrun's own message: "distrun: <line>"
  // Begins a line of `writer` with `prefix`, unless the unfinished line at the end is its own already; ends
  // any other unfinished line first.
  void continue_line(int writer, std::string_view prefix);
  void end_line() { *unfinished_ = 0; }
  bool has_unfinished_line_of(int writer) const { return *unfinished_ == writer; }
  // Both write to the same terminal or file, so an unfinished line of one is in the way of the other.
  void share_lines_with(Outlet& other) { unfinished_ = other.unfinished_; }
  bool is_same_file_as(const Outlet& other) const;
  void pump();                          // writes what can be written without blocking
  void flush(dist::Deadline deadline);  // writes all of it, waiting for a slow reader until the deadline
  bool is_waiting() const { return !pending_.empty() && !is_broken(); }
  bool is_full() const;  // the ranks must wait until the reader has caught up
  bool is_broken() const { return error_ != 0; }
  int error() const { return error_; }  // errno of the write that failed; EPIPE: the reader is gone
  bool is_terminal() const { return is_terminal_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool is_terminal_;
  int error_ = 0;
  std::string pending_;
  std::shared_ptr<int> unfinished_ = std::make_shared<int>(0);  // whose line has no newline yet; 0: no one's
};

// The last bytes of a stream, for the report of a failure.
class Tail {
 public:
  void add(std::string_view text);
  std::string last_lines(int count) const;

 private:
  std::string kept_;
};

// One stream of one rank, cut into lines. A prompt, or a progress bar that only returns to the beginning of
// its line, has no newline: it is shown after `patience`, never cut within a UTF-8 character. The bytes stay
// as they are, with these exceptions: after each carriage return the prefix comes again; a line longer than 1
// MiB is broken, so that memory stays bounded; an unfinished line gets a newline when another rank's line
// must follow it, or at the end.
class LineSink {
 public:
  struct Target {
    Outlet* shown = nullptr;  // nullptr: not shown
    std::string prefix;
    dist::UniqueFd file;  // gets the bytes as they are
    Tail* tail = nullptr;
  };
  static constexpr std::chrono::milliseconds patience{60};
  explicit LineSink(Target target);
  void add(std::string_view bytes);
  dist::Deadline due() const { return due_; }  // when show_unfinished() has something to show
  void show_unfinished();
  void finish();

 private:
  void emit(std::string_view text);
  Target target_;
  int number_;  // of this sink, for Outlet::continue_line()
  std::string partial_;
  dist::Deadline due_ = dist::Deadline::never();
};

// "[3] ", in the rank's colour when `colours`.
std::string line_prefix(int rank, bool colours);

}  // namespace distrun
