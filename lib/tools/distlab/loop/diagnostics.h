// Reads the messages of compiler and linker from the log of a build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace distlab::loop {

struct Place {
  std::string file;  // in the compiler's spelling
  int line = 0;
  int column = 0;  // 0: not known
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string message;
  std::vector<std::string> excerpt;  // source line and caret, as the compiler draws them
  std::vector<Place> required_from;  // places that use the template with the error, innermost first
  std::vector<Diagnostic> notes;     // except those in `required_from`
};

// Returns the diagnostics of g++ and clang++ in the order of the log, without colours. A note belongs to the
// diagnostic before it.
std::vector<Diagnostic> parse_diagnostics(std::string_view log);

struct LinkError {
  enum class Kind { undefined, defined_twice };
  Kind kind = Kind::undefined;
  std::string lab;     // "06": the lab whose program could not be linked; empty: not known
  std::string symbol;  // "lab::gather(dist::Tensor const&, std::vector<dist::Tensor>&, int)"
};

// Returns the errors of ld and lld, each symbol once.
std::vector<LinkError> parse_link_errors(std::string_view log);

// Returns the lines of a text, without terminal colours.
std::vector<std::string> plain_lines(std::string_view text);

}  // namespace distlab::loop
