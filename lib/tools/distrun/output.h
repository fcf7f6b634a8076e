// The output of many ranks on one console: whole lines only, each with its rank in front.
#pragma once

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
  void say(std::string_view line);      // adds distrun's own message: "distrun: <line>"
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
};

// The last bytes of a stream, for the report of a failure.
class Tail {
 public:
  void add(std::string_view text);
  std::string last_lines(int count) const;

 private:
  std::string kept_;
};

// One stream of one rank, cut into lines. The bytes stay as they are, with two exceptions: a line longer than
// 1 MiB is broken, so that memory stays bounded, and a last line without a newline gets one.
class LineSink {
 public:
  struct Target {
    Outlet* shown = nullptr;  // nullptr: not shown
    std::string prefix;
    dist::UniqueFd file;  // gets the bytes as they are
    Tail* tail = nullptr;
  };
  explicit LineSink(Target target) : target_(std::move(target)) {}
  void add(std::string_view bytes);
  void finish();

 private:
  void emit(std::string_view line);
  Target target_;
  std::string partial_;
};

// "[3] ", in the rank's colour when `colours`.
std::string line_prefix(int rank, bool colours);

}  // namespace distrun
