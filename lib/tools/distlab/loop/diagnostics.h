// What a compiler and a linker said, out of the log of a build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace distlab::loop {

struct Place {
  std::string file;  // as the compiler names it
  int line = 0;
  int column = 0;  // 0: not said
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string message;
  std::vector<std::string> excerpt;  // source line and caret, as the compiler draws them
  std::vector<Place> required_from;  // of an error inside a template: who asked for it, innermost first
  std::vector<Diagnostic> notes;     // without those of `required_from`
};

// Those of g++ and clang++ in the order of the log; colours are removed, notes belong to what they follow.
std::vector<Diagnostic> parse_diagnostics(std::string_view log);

struct LinkError {
  enum class Kind { undefined, defined_twice };
  Kind kind = Kind::undefined;
  std::string lab;     // "06": whose program could not be linked; empty: not said
  std::string symbol;  // "lab::gather(dist::Tensor const&, std::vector<dist::Tensor>&, int)"
};

// Those of ld and lld, each symbol once.
std::vector<LinkError> parse_link_errors(std::string_view log);

// The lines of a text without terminal colours.
std::vector<std::string> plain_lines(std::string_view text);

}  // namespace distlab::loop
