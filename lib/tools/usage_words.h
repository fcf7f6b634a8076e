// CLI11's error messages about a command line, in the words of distlab and distrun.
#pragma once

#include <regex>
#include <string>

namespace tools {

// Applies the first row that matches the whole text. A text that no row matches stays as it is.
inline std::string usage_words(const std::string& complaint) {
  static const struct {
    const char *theirs, *ours;
  } rows[] = {
      {R"((.+): At Most 1 required but received (\d+))", "$1 is given $2 times; once is enough"},
      {R"((.+): At Most (\d+) required but received (\d+))", "$1 takes at most $2 values, not $3"},
      {R"((.+): At least (\d+) required but received (\d+))", "$1 takes at least $2 values, not $3"},
      {R"((.+): 1 required .* missing)", "$1 needs a value"},
      {R"((.+): (\d+) required .* missing)", "$1 needs $2 values"},
      {R"((.+) was given a disallowed flag override)", "--$1 takes no value"},
      {R"((.+): (?:too many inputs for a flag|Should be true/false or a number))", "$1 takes no value"},
      {R"(Could not convert: (.+) = (.*))", R"($1 takes a number, not "$2")"},
      {R"(The value (.+) is not an allowed value for (.+))", R"($2 does not take "$1")"},
      {R"((.+): Value (.+) not in range \[?(\S+) (?:to|-) ([^\]]+)\]?)",
       R"($1 takes a number from $3 to $4, not "$2")"},
      {R"((.+): (.*) not in \{(.+)\})", R"($1 takes one of $3, not "$2")"},
      {R"(A subcommand is required)", "the command is missing"},
      {R"((.+) is required)", "$1 is missing"},
      {R"(The following arguments? (?:was|were) not expected: (?:.* )?(-\S*[a-z]\S*)(?: .*)?)",
       R"(there is no option "$1")"},
      {R"(The following arguments? (?:was|were) not expected: (.+))", R"(unexpected argument "$1")"},
      {R"((.+) excludes (.+))", "$1 and $2 cannot be combined: leave one of them out"},
      {R"((.+) requires (.+))", "$1 needs $2 as well"},
  };
  for (const auto& [theirs, ours] : rows) {
    const std::regex pattern(theirs);
    if (std::regex_match(complaint, pattern)) return std::regex_replace(complaint, pattern, ours);
  }
  return complaint;
}

}  // namespace tools
