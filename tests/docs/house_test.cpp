// The rules of the library's source: what a file may include, and how long a file may be.
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

// Folders on one floor do not include each other.
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

// The headers that are installed: those that the dist_layer() calls of all folders list.
std::set<std::string> public_headers() {
  std::set<std::string> all{"dist/dist.h"};
  const fs::path library = PROJECT_FOLDER "/lib";
  const std::regex list(R"(\bHEADERS\s([^)]*?)(SOURCES|OPTIONAL|\)))"), header(R"([a-z0-9_/]+\.h\b)");
  for (const auto& entry : fs::recursive_directory_iterator(library / "dist")) {
    const fs::path folder_of = entry.path().parent_path();
    if (entry.path().filename() != "CMakeLists.txt" || folder_of == library / "dist") continue;
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string folder = fs::relative(entry.path().parent_path(), library).string();
    for (std::sregex_iterator found(text.begin(), text.end(), list), end; found != end; ++found) {
      const std::string names = (*found)[1];
      for (std::sregex_iterator name(names.begin(), names.end(), header); name != end; ++name)
        all.insert(folder + "/" + name->str());
    }
  }
  return all;
}

TEST(House, ThePublicHeadersAreFewAndIncludeNoPrivateOne) {
  constexpr std::size_t most = 100;
  const std::set<std::string> headers = public_headers();
  EXPECT_LE(headers.size(), most);
  EXPECT_GT(headers.size(), 40u);
  const std::regex include(R"re(^#include "(dist/[^"]+)".*)re");
  for (const std::string& header : headers)
    for (const std::string& line : lines_of(PROJECT_FOLDER "/lib/" + header)) {
      std::smatch match;
      if (std::regex_match(line, match, include)) {
        EXPECT_TRUE(headers.contains(match[1])) << header << " is installed, and includes " << match[1];
      }
    }
}

bool is_code(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin != line.npos && line.compare(begin, 2, "//") != 0;
}

// What the tables of a section of lib/dist/README.md name: files, and folders ("trace/").
std::set<std::string> named_in(const std::string& section) {
  const std::regex name(R"(`([a-z0-9_/]+(?:\.(?:h|cpp)|/))`)");
  std::set<std::string> all;
  bool is_in_it = false;
  for (const std::string& line : lines_of(PROJECT_FOLDER "/lib/dist/README.md")) {
    if (line.starts_with("## ")) is_in_it = line.starts_with("## " + section);
    if (!is_in_it || !line.starts_with("| ")) continue;
    for (std::sregex_iterator found(line.begin(), line.end(), name), end; found != end; ++found)
      all.insert((*found)[1]);
  }
  return all;
}

TEST(House, TheWalkOfARingAllReduceOnlyBecomesShorter) {
  constexpr std::size_t most_files = 83, most_lines = 5500;  // what a weekend has time for
  const std::set<std::string> walk = named_in("The walk");
  EXPECT_TRUE(walk.contains("transport/plain/plain.cpp"));
  std::size_t lines = 0;
  for (const std::string& name : walk)
    lines += static_cast<std::size_t>(
        std::ranges::count_if(lines_of(PROJECT_FOLDER "/lib/dist/" + name), is_code));
  EXPECT_LE(walk.size(), most_files);
  EXPECT_LE(lines, most_lines);
  EXPECT_GT(lines + 200, most_lines) << "shorter by far: lower the budget to " << lines;
}

// So no part of the walk is left out by not being listed.
TEST(House, WhatTheWalkIncludesIsPartOfItOrNamedBesideIt) {
  const std::set<std::string> walk = named_in("The walk"), beside = named_in("Beside the walk");
  const auto is_beside = [&](const std::string& file) {
    if (beside.contains(file)) return true;
    for (auto slash = file.find('/'); slash != file.npos; slash = file.find('/', slash + 1))
      if (beside.contains(file.substr(0, slash + 1))) return true;
    return false;
  };
  for (const std::string& name : beside) EXPECT_FALSE(walk.contains(name)) << name << " is in both tables";
  const std::regex include(R"re(^#include "dist/([^"]+)".*)re");
  for (const std::string& file : walk)
    for (const std::string& line : lines_of(PROJECT_FOLDER "/lib/dist/" + file))
      if (std::smatch match; std::regex_match(line, match, include)) {
        const std::string target = match[1];
        EXPECT_TRUE(walk.contains(target) || is_beside(target)) << file << " includes " << target;
      }
}

TEST(House, TheFilesThatTheFloorPlanNamesExist) {
  const std::regex file(R"(`([a-z0-9_/]+/[a-z0-9_]+\.(?:h|cpp))`)");
  for (const std::string& line : lines_of(PROJECT_FOLDER "/lib/dist/README.md")) {
    if (!line.starts_with("| ")) continue;
    for (std::sregex_iterator found(line.begin(), line.end(), file), end; found != end; ++found)
      EXPECT_TRUE(fs::exists(PROJECT_FOLDER "/lib/dist/" + (*found)[1].str())) << (*found)[1];
  }
}

TEST(House, FilesOfLibAreShort) {
  constexpr std::size_t longest = 300;  // lines
  // Longer still, each a class or a plan to be cut into ideas. Nothing joins them.
  const std::set<std::string> too_long{"lib/dist/sim/scheduler.cpp"};
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
