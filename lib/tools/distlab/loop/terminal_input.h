// Keys that need no Enter, and signals that can be read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dist/core/handles.h"

namespace distlab::loop {

// While a RawInput exists, standard input returns each key at once and does not echo it. However the program
// ends, except by SIGKILL, the terminal is restored. Only one RawInput may exist at a time.
class RawInput {
 public:
  RawInput();
  ~RawInput() { restore(); }
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;

  void restore();  // restores the terminal's settings
  void resume();
};

// Returns the keys that were pressed, in lower case, without arrows and function keys. Returns nothing at the
// end of input.
std::optional<std::string> read_keys();

// While a SignalInput exists, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP and SIGWINCH are blocked and can be
// read from fd().
class SignalInput {
 public:
  SignalInput();
  ~SignalInput();
  SignalInput(const SignalInput&) = delete;
  SignalInput& operator=(const SignalInput&) = delete;

  int fd() const { return fd_.get(); }
  std::vector<int> take();

 private:
  dist::UniqueFd fd_;
};

}  // namespace distlab::loop
