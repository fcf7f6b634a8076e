#include "labs.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

namespace ladder {

namespace fs = std::filesystem;

fs::path root() { return PROJECT_FOLDER; }

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file << " cannot be read";
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Lab> labs() {
  std::vector<Lab> all;
  for (const auto& entry : fs::directory_iterator(root() / "labs")) {
    const std::string folder = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(folder[0])) == 0) continue;
    all.push_back({folder, entry.path(), text_of(entry.path() / "README.md")});
  }
  std::ranges::sort(all, {}, &Lab::folder);
  EXPECT_GE(all.size(), 15u) << "labs are missing in " << root() / "labs";
  return all;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

std::vector<Term> terms_of(const std::string& page) {
  constexpr std::string_view begin = "- <a name=\"", end = "\"></a>";
  std::vector<Term> all;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(begin)) continue;
    std::size_t at = line.find(end);
    Term term{line.substr(begin.size(), at - begin.size()), {}};
    at += end.size();
    while (line.compare(at, 2, "**") == 0) {
      const std::size_t close = line.find("**", at + 2);
      term.forms.push_back(line.substr(at + 2, close - at - 2));
      at = close + 2;
      if (line.compare(at, 2, ", ") == 0) at += 2;
    }
    all.push_back(std::move(term));
  }
  return all;
}

std::vector<std::string> glossary_links(const std::string& page) {
  std::vector<std::string> all;
  for (const std::string_view target : {"/glossary.md#", "/glossary.zh-CN.md#zh-"}) {
    for (std::size_t at = page.find(target); at != std::string::npos; at = page.find(target, at + 1)) {
      const std::size_t begin = at + target.size();
      all.push_back(page.substr(begin, page.find(')', begin) - begin));
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace ladder
