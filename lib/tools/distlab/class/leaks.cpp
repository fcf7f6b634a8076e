#include "distlab/class/leaks.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

namespace distlab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t in_a_row = 3, fewest_characters = 60;

// Returns the line without anything that an editor may change; empty for a line that is too common.
std::string essence(const std::string& line) {
  constexpr int fewest_letters = 4;
  std::istringstream words(line);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  const auto letters = std::ranges::count_if(text, [](unsigned char c) { return std::isalnum(c) != 0; });
  const bool is_common = letters < fewest_letters || text.starts_with("#include") || text.starts_with("//") ||
                         text.starts_with("namespace ");
  return is_common ? "" : text;
}

// Returns all sequences of consecutive lines of a file.
std::vector<std::string> passages(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines, found;
  for (std::string line; std::getline(file, line);) {
    if (auto text = essence(line); !text.empty()) lines.push_back(std::move(text));
  }
  for (std::size_t i = 0; i + in_a_row <= lines.size(); ++i) {
    std::string passage;
    for (std::size_t j = i; j < i + in_a_row; ++j) passage += lines[j] + "\n";
    if (passage.size() >= fewest_characters) found.push_back(std::move(passage));
  }
  return found;
}

}  // namespace

std::vector<Leak> find_leaks(const fs::path& tree, const std::vector<fs::path>& secrets,
                             const std::vector<fs::path>& known) {
  std::map<std::string, fs::path> secret;
  for (const auto& file : secrets) {
    for (auto& passage : passages(file)) secret.emplace(std::move(passage), file);
  }
  for (const auto& file : known) {
    for (const auto& passage : passages(file)) secret.erase(passage);
  }
  std::vector<Leak> leaks;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    for (const auto& passage : passages(entry.path())) {
      const auto found = secret.find(passage);
      if (found == secret.end()) continue;
      leaks.push_back({fs::relative(entry.path(), tree), found->second, passage});
      break;
    }
  }
  return leaks;
}

}  // namespace distlab
