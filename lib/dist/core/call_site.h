// CallSite: the line of user code that called the library. The flight recorder keeps it and every report
// quotes it.
#pragma once

#include <string>
#include <string_view>

namespace dist {

// `file` must outlive the value (string literals do).
struct CallSite {
  const char* file = "?";
  int line = 0;
  // In calls that the library makes: on behalf of which part of the program, "transformer.h.0" or "bucket 2",
  // so that what this part does on one rank is not taken for what another part does on the next. Null: none.
  // Kept forever: there are few.
  const char* part = nullptr;

  // As a default argument or default member initialiser it names the caller's line (GCC and Clang).
  static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  CallSite in(std::string_view of_part) const;  // the same line, on behalf of this part
  // Whether it is a line of the C++ library's: the caller is in std::make_unique() or a container.
  bool is_in_std() const { return std::string_view(file).find("/c++/") != std::string_view::npos; }
  // "train.cpp:41": the file's base name and the line.
  std::string str() const;
  // Parses such a text, from another rank. Keeps the file's name forever: there are few.
  static CallSite parse(std::string_view text);
  // Compares those texts, because another rank's path has no folder.
  bool operator==(const CallSite& other) const { return line == other.line && str() == other.str(); }
};

// A CallSite as the last parameter of a public function, which callers leave out: `void f(const Options&
// options = {}, Caller at = Caller::here())`. It cannot be made from {}, so f({}, {}) never takes one for
// another.
struct Caller : CallSite {
  constexpr Caller(CallSite where) : CallSite(where) {}  // NOLINT(google-explicit-constructor): to pass on
  static constexpr Caller here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return CallSite{file, line};
  }
};

}  // namespace dist
