// The house keeps its rules: what a file of the library may include, and how long a file may be.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace docs {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The floors of lib/dist/README.md's table: folder -> number.
std::map<std::string, int> floors() {
  std::map<std::string, int> of;
  const std::regex row(R"(^\| (\d+) \| `([a-z]+)/` \|.*)");
  for (const std::string& line : lines_of(PROJECT_FOLDER "/lib/dist/README.md"))
    if (std::smatch match; std::regex_match(line, match, row)) of[match[2]] = std::stoi(match[1]);
  return of;
}

std::vector<fs::path> sources_below(const fs::path& folder) {
  const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".in"};
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

TEST(House, EveryFolderOfTheLibraryHasAFloor) {
  const auto of = floors();
  for (const auto& entry : fs::directory_iterator(PROJECT_FOLDER "/lib/dist"))
    EXPECT_TRUE(!entry.is_directory() || of.contains(entry.path().filename().string()))
        << entry.path() << " is not in lib/dist/README.md's table";
}

// Rooms of one floor do not know each other.
TEST(House, AFileIncludesOnlyItsOwnFolderAndLowerFloors) {
  const fs::path library = PROJECT_FOLDER "/lib/dist";
  const auto of = floors();
  const std::regex include(R"re(^#include "([a-z]+)/([a-z_]+)/.*)re");
  for (const fs::path& file : sources_below(library)) {
    const std::string folder = fs::relative(file, library).begin()->string();
    if (!of.contains(folder)) continue;  // dist.h, which includes what it likes
    for (const std::string& line : lines_of(file)) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      EXPECT_EQ(match[1], "dist") << file << ": " << line;
      const std::string target = match[2];
      if (target == folder || !of.contains(target)) continue;
      EXPECT_LT(of.at(target), of.at(folder)) << file << ": " << line;
    }
  }
}

TEST(House, FilesOfLibAreShort) {
  constexpr std::size_t longest = 300;  // lines
  // Longer still, each a class or a plan to be cut into ideas. Nothing joins them.
  const std::set<std::string> too_long{"lib/dist/collectives/direct_on_rounds.h",
                                       "lib/dist/sim/scheduler.cpp"};
  for (const fs::path& file : sources_below(PROJECT_FOLDER "/lib")) {
    const std::string name = fs::relative(file, PROJECT_FOLDER).string();
    const std::size_t lines = lines_of(file).size();
    if (too_long.contains(name)) {
      EXPECT_GT(lines, longest) << name << " is short enough now: strike it off this list";
    } else {
      EXPECT_LE(lines, longest) << name << ": which idea in it deserves a file of its own?";
    }
  }
}

}  // namespace
}  // namespace docs
