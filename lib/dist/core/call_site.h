// Where the user called us: kept by the flight recorder and quoted in every report.
#pragma once

#include <string>
#include <string_view>

namespace dist {

// `file` must outlive the value (string literals do).
struct CallSite {
  const char* file = "?";
  int line = 0;

  // As a default argument or default member initialiser it names the caller's line (GCC and Clang).
  static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  // "train.cpp:41": the file's base name and the line.
  std::string str() const;
  // Of such a text, from another rank. Keeps the file's name for ever: there are few.
  static CallSite parse(std::string_view text);
  // By that text: another rank's has no folder.
  bool operator==(const CallSite& other) const { return line == other.line && str() == other.str(); }
};

}  // namespace dist
