// Child processes: run a program and get its output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when a signal ended it; 127 when the program could not be started
  std::string output;  // standard output and error, in the order of arrival
};

// Thrown when a signal arrived while a child ran (SIGINT, SIGTERM or SIGHUP, unless ignored or blocked); the
// child got it too and has ended. Also thrown when SIGPIPE has ended a child that shares our output, because
// the reader is gone. The code that catches this must end the process by the same signal. It is not a
// std::exception, because it must not be reported as an error.
struct Interrupted {
  int signal;
};

using LineSink = std::function<void(std::string_view line)>;

// Runs argv[0] (found in PATH) without standard input and waits for it. All of these functions throw
// Interrupted, and only one thread at a time may call them.
ProcessResult run_captured(const std::vector<std::string>& argv);
// The same, but calls `sink` with each line as soon as it is complete; the result's output is empty.
ProcessResult run_streamed(const std::vector<std::string>& argv, const LineSink& sink);
// Runs argv[0] with our own input and output, waits for it, and returns its exit code as above.
int run_in_foreground(const std::vector<std::string>& argv);
// Returns "was ended by signal 11 (Segmentation fault)" for such an exit code; empty if it ended by itself.
std::string ended_by_signal(int exit_code);
// Returns the path of an executable program in PATH, or an empty text when there is none.
std::string find_program(const std::string& name);

}  // namespace distlab
