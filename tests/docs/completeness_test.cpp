// The handbook's tables leave nothing out: every public call is listed beside PyTorch's, every algorithm on
// its page.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"

namespace docs {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(PROJECT_FOLDER "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Names before a "(" in a header, comments apart.
std::set<std::string> functions_of(const std::string& header) {
  std::set<std::string> names;
  std::istringstream in(text_of(header));
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.size(), line.find("//")));
    for (std::size_t open = line.find('('); open != std::string::npos; open = line.find('(', open + 1)) {
      std::size_t begin = open;
      while (begin > 0 &&
             (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
        --begin;
      if (begin < open && std::islower(static_cast<unsigned char>(line[begin])) != 0)
        names.insert(line.substr(begin, open - begin));
    }
  }
  return names;
}

// The example of the page on graphs is compiled and run.
TEST(Graphs, TheExampleIsATest) {
  const std::string page = text_of("labs/handbook/graphs.md"),
                    test = text_of("tests/unit/device/graphed_ddp_test.cpp");
  const std::string begin = "```cpp\n";
  const std::size_t from = page.find(begin) + begin.size();
  const std::string example = page.substr(from, page.find("```", from) - from);
  EXPECT_EQ(std::ranges::count(example, '\n'), 3) << example;
  EXPECT_NE(test.find(example), std::string::npos) << example;
  EXPECT_NE(text_of("labs/handbook/graphs.zh-CN.md").find(example), std::string::npos);
}

// Variables in quotes in the sources of the library. Not for users: a descriptor that one process hands to
// another.
std::set<std::string> variables_of_the_library() {
  std::set<std::string> names;
  const std::regex quoted("\"(DIST_[A-Z0-9_]+)[\"=]");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PROJECT_FOLDER "/lib/dist")) {
    const auto ending = entry.path().extension();
    if (ending != ".cpp" && ending != ".h") continue;
    const std::string text = text_of(std::filesystem::relative(entry.path(), PROJECT_FOLDER));
    for (std::sregex_iterator found(text.begin(), text.end(), quoted), end; found != end; ++found)
      names.insert((*found)[1]);
  }
  names.erase("DIST_MEMORY_FD");
  return names;
}

class Handbook : public testing::TestWithParam<const char*> {};

TEST_P(Handbook, HasEveryEnvironmentVariableAndNoOther) {
  const std::string page = text_of(std::string("labs/handbook/clusters") + GetParam());
  std::set<std::string> rows;
  const std::regex row("\n\\| `(DIST_[A-Z0-9_]+)` \\|");
  for (std::sregex_iterator found(page.begin(), page.end(), row), end; found != end; ++found)
    EXPECT_TRUE(rows.insert((*found)[1]).second) << (*found)[1] << " has two rows";
  EXPECT_GT(rows.size(), 20u);
  EXPECT_EQ(rows, variables_of_the_library());
}

TEST_P(Handbook, HasEveryCallBesideTorchs) {
  const std::string page = text_of(std::string("labs/handbook/torch") + GetParam());
  std::set<std::string> names = functions_of("lib/dist/group/process_group.h");
  EXPECT_GT(names.size(), 40u);
  for (const char* not_its_own : {"bool", "here", "move", "state_"}) names.erase(not_its_own);
  for (const std::string& name : names) {
    const bool shown = page.find("dist::" + name + "(") != std::string::npos ||
                       page.find("`" + name + "(") != std::string::npos ||
                       page.find("group." + name + "(") != std::string::npos ||
                       page.find("dist::" + name + "`") != std::string::npos;
    EXPECT_TRUE(shown) << name << " is missing";
  }
}

// Each name is on the page, as present, different or absent.
TEST_P(Handbook, HasEveryNameOfTorch) {
  const std::string page = text_of(std::string("labs/handbook/torch") + GetParam());
  const auto is_shown = [&](const std::string& name) {
    for (std::size_t at = page.find(name); at != page.npos; at = page.find(name, at + 1)) {
      const std::string around{at == 0 ? ' ' : page[at - 1],
                               page[std::min(at + name.size(), page.size() - 1)]};
      if ((around[0] == '`' || around[0] == '.') && std::string("`(.").find(around[1]) != std::string::npos)
        return true;
    }
    return false;
  };
  std::istringstream lines(text_of("tests/docs/torch_names.txt"));
  std::size_t names = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    for (std::string name; words >> name; ++names) EXPECT_TRUE(is_shown(name)) << name << " is missing";
  }
  EXPECT_GT(names, 400u);
}

TEST_P(Handbook, HasEveryAlgorithm) {
  const std::string page = text_of(std::string("labs/handbook/algorithms") + GetParam());
  for (const dist::AlgorithmEntry& entry : dist::algorithms())
    EXPECT_NE(page.find("`" + std::string(entry.name) + "`"), std::string::npos)
        << entry.name << " is missing";
}

INSTANTIATE_TEST_SUITE_P(Languages, Handbook, testing::Values(".md", ".zh-CN.md"));

}  // namespace
}  // namespace docs
