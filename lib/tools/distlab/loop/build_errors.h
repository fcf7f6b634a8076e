// The errors of a build as a student reads them: those of the file to edit first, each with its line, and
// few.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distlab::loop {

// What the texts need to know about the checkout. Paths are relative to it:
// "labs/03_send_recv/send_recv.cpp".
struct Sources {
  std::string root;
  std::vector<std::string> edited_files;                   // the one file of each lab
  std::function<std::string(const std::string&)> text_of;  // of a file; empty when there is none
};

// That of workspace().
Sources checkout_sources();

struct Explanation {
  std::vector<std::string> lines;  // to show; empty: the log has no error that we know how to read
  int more = 0;                    // errors that are not shown
  bool is_students = false;        // one of them is in an edited file, or for want of a function in it
};

// Of the log of a build that failed. Shows at most `most` errors: those in edited files, or that they lead
// to in a template, before all others.
Explanation explain_errors(std::string_view log, const Sources& sources, int most = 3);
// A line for each warning about an edited file.
Explanation explain_warnings(std::string_view log, const Sources& sources, int most = 3);

// explain_errors() of the log in that file; its first lines when it has none that we know how to read.
Explanation explain_log_file(const std::string& log_file);
// To standard output, with the place of the log.
void print_explanation(const Explanation& told, const std::string& log_file);

}  // namespace distlab::loop
