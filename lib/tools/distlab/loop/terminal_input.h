// Keys without Enter, and signals as something to read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dist/core/handles.h"

namespace distlab::loop {

// Standard input hands over each key at once and does not show it, while this lives. Whatever ends the
// program but SIGKILL leaves the terminal as it was. At most one at a time.
class RawInput {
 public:
  RawInput();
  ~RawInput() { restore(); }
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;

  void restore();  // as it was before
  void resume();
};

// Keys that are there, in lower case; those of arrows and the like are left out. Nothing: end of input.
std::optional<std::string> read_keys();

// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP and SIGWINCH are kept back and can be read from fd() while this
// lives.
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
