// Handouts look as they should: their blocks of code, pictures and output fit on the page (GitHub shows about
// 100 columns), and no line becomes a list by accident.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace docs {
namespace {

constexpr int most_columns = 100;

// How many columns a UTF-8 text takes in a fixed-width font, in which a Chinese character takes two.
int columns(std::string_view text) {
  int all = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool goes_on = byte >= 0x80 && byte < 0xc0;
    const bool is_wide = byte >= 0xe3 && byte <= 0xef;  // from U+3000 on
    all += goes_on ? 0 : is_wide ? 2 : 1;
  }
  return all;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

// Lists have hyphens. A sum or a product that goes on in the next line must not become a list.
bool is_list_by_accident(std::string_view line) {
  const auto text = without_indent(line);
  return text.starts_with("+ ") || text.starts_with("* ");
}

void check(const std::filesystem::path& page) {
  std::ifstream in(page);
  EXPECT_TRUE(in) << page;
  bool is_block = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (without_indent(line).starts_with("```"))
      is_block = !is_block;
    else if (is_block)
      EXPECT_LE(columns(line), most_columns)
          << page.string() << ":" << number << ": let the line go on in the next one";
    else
      EXPECT_FALSE(is_list_by_accident(line))
          << page.string() << ":" << number << ": end the previous line with this sign";
  }
  EXPECT_FALSE(is_block) << page << ": a block does not end";
}

TEST(Handouts, HaveBlocksThatFitAndNoListsByAccident) {
  int pages = 0;
  for (const auto& lab : std::filesystem::directory_iterator(PROJECT_FOLDER "/labs")) {
    for (const auto* name : {"README.md", "README.zh-CN.md"}) {
      if (!lab.is_directory() || !std::filesystem::exists(lab.path() / name)) continue;
      const auto folder = lab.path().filename().string();
      if (folder.front() < '0' || folder.front() > '9') continue;
      check(lab.path() / name);
      ++pages;
    }
  }
  EXPECT_GE(pages, 42);
}

TEST(Handouts, AreMeasuredInColumns) {
  EXPECT_EQ(columns("abc"), 3);
  EXPECT_EQ(columns("├─▶"), 3);
  EXPECT_EQ(columns("图，a"), 5);
}

}  // namespace
}  // namespace docs
