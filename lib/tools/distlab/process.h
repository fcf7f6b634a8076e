// Child processes of the command line: run one, see what it printed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when a signal ended it; 127 when the program could not be started
  std::string output;  // standard output and error, as they came
};

// A signal came while a child ran (SIGINT, SIGTERM or SIGHUP, unless ignored or blocked), which got it too
// and has ended; or SIGPIPE has ended one that shares our output: its reader has gone. Whoever catches this
// ends by the signal as well. No std::exception: nobody is to report it.
struct Interrupted {
  int signal;
};

using LineSink = std::function<void(std::string_view line)>;

// Runs argv[0] (found in PATH) without standard input and waits for it. All of these throw Interrupted, and
// are for one thread at a time.
ProcessResult run_captured(const std::vector<std::string>& argv);
// The same, but gives each line to `sink` as soon as it is complete; the result's output is empty.
ProcessResult run_streamed(const std::vector<std::string>& argv, const LineSink& sink);
// Runs argv[0] with our own input and output, and waits for it; its exit code as above.
int run_in_foreground(const std::vector<std::string>& argv);
// Of such an exit code: "was ended by signal 11 (Segmentation fault)"; empty: it ended by itself.
std::string ended_by_signal(int exit_code);
// In PATH, executable. Empty when there is none.
std::string find_program(const std::string& name);

}  // namespace distlab
