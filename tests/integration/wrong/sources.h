// What the tests of this folder read from files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dist::test {

std::vector<std::string> lines_of_file(const std::string& path);

// A wrong program's text.
struct Source {
  explicit Source(std::string_view name);

  std::string file;                // "d01_swap.cpp"
  std::vector<std::string> lines;  // without the marks
  std::set<int> marked;            // 1, 2, ...: lines that end in "// <- D1"
  int ranks = 0;                   // "// 2 ranks"
};

}  // namespace dist::test
