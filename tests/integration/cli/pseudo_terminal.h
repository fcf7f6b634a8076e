// A program on a terminal of its own: what it shows, the keys that it gets, and the state in which it leaves
// the terminal.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>
#include <termios.h>

#include "dist/core/handles.h"

class PseudoTerminal {
 public:
  PseudoTerminal(const std::vector<std::string>& argv, int rows, int columns);
  ~PseudoTerminal();
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  // Waits until the program has shown `text` since the last call that found something; false after ten
  // seconds.
  bool shows(const std::string& text);
  const std::string& all() const { return all_; }
  void press(const std::string& keys) const;
  void resize(int rows, int columns) const;  // the kernel tells the program
  void signal(int number) const;
  bool has_echo() const;    // keys are shown ...
  bool is_by_line() const;  // ... and reach the program with Enter, as a shell expects
  // Waits for its end; the exit code, or 128 + signal; -1 after ten seconds.
  int exit_code();

 private:
  bool read_some(std::chrono::milliseconds patience);
  termios settings() const;

  dist::UniqueFd master_, slave_;
  pid_t child_ = 0;
  std::string all_;
  std::size_t seen_ = 0;
};
