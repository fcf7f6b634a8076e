#include "distlab/loop/hint_page.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "distlab/terminal.h"

namespace distlab::loop {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the numbers between the stars of a heading; none if the line is not the heading of a section.
std::vector<int> parts_of(std::string_view line) {
  if (!line.starts_with("**Part") && !line.starts_with("**第")) return {};
  const auto heading = line.substr(2, line.find("**", 2) - 2);
  std::vector<int> parts;
  bool in_number = false;
  for (const char c : heading) {
    if (is_digit(c)) {
      if (!in_number) parts.push_back(0);
      parts.back() = parts.back() * 10 + (c - '0');
    }
    in_number = is_digit(c);
  }
  return parts;
}

// Returns the text without empty lines at both ends.
std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of('\n');
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of('\n') - begin + 1) + "\n";
}

// Returns true if the line is part of a paragraph, whose line breaks may move.
bool is_text(std::string_view line) {
  if (line.empty() || line.starts_with(' ') || line.starts_with("- ")) return false;
  const bool is_numbered = is_digit(line.front()) && line.find(". ") < 3;
  return line.front() != '#' && line.front() != '|' && !is_numbered;
}

}  // namespace

std::string without_note_of_translation(std::string page) {
  if (const auto note = page.rfind("\n<!-- translates "); note != std::string::npos) page.resize(note);
  return page;
}

std::optional<std::string> section_for_part(const std::string& page, int part) {
  std::istringstream lines(page);
  std::string for_all, section;
  bool is_before_sections = true, is_wanted = false, has_found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ") && is_before_sections && for_all.empty()) continue;
    if (const auto parts = parts_of(line); !parts.empty()) {
      is_before_sections = false;
      is_wanted = std::ranges::find(parts, part) != parts.end();
      has_found = has_found || is_wanted;
    }
    if (is_before_sections) for_all += line + "\n";
    if (is_wanted) section += line + "\n";
  }
  if (!has_found) return std::nullopt;
  for_all = trimmed(for_all);
  return (for_all.empty() ? "" : for_all + "\n") + trimmed(section);
}

std::string reflowed(const std::string& page, int columns) {
  std::istringstream lines(page);
  std::string text, paragraph;
  bool is_code = false;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += wrapped(paragraph, columns, 0) + "\n";
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const bool is_fence = line.starts_with("```");
    if (!is_code && !is_fence && is_text(line)) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    text += line + "\n";
    is_code = is_code != is_fence;
  }
  end_paragraph();
  return text;
}

}  // namespace distlab::loop
