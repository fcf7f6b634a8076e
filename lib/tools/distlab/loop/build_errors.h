// The errors of a build as a student sees them: only a few, each with its line, and those of the edited file
// first.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab::loop {

// What the texts need to know about the checkout. Paths are relative to its root:
// "labs/03_send_recv/send_recv.cpp".
struct Sources {
  std::string root;
  std::vector<std::string> edited_files;                   // the one file of each lab
  std::function<std::string(const std::string&)> text_of;  // of a file; empty when the file does not exist
};

// The sources of workspace().
Sources checkout_sources();

struct Explanation {
  std::vector<std::string> lines;  // to show; empty: we cannot read any error in the log
  int more = 0;                    // errors that are not shown
  bool is_students = false;        // an error is in an edited file, or a function is missing there
};

// Explains the log of a failed build with at most `most` errors. Errors in edited files, and errors in
// templates that these files use, come first.
Explanation explain_errors(std::string_view log, const Sources& sources, int most = 3);
// Returns one line for each warning about an edited file.
Explanation explain_warnings(std::string_view log, const Sources& sources, int most = 3);

// Calls explain_errors() with the log in that file. If we cannot read any error in it, returns its first
// lines.
Explanation explain_log_file(const std::string& log_file);
// Prints to standard output, with the path of the log.
void print_explanation(const Explanation& told, const std::string& log_file);

}  // namespace distlab::loop
