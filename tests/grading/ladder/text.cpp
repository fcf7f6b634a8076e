#include "text.h"

#include <cctype>
#include <sstream>

namespace ladder {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool same(char in_text, char in_term, bool exactly) {
  if (in_term == ' ') return in_text == ' ' || in_text == '\n';
  return exactly ? in_text == in_term : lower(in_text) == in_term;
}

// The end of `term` where it occurs at `at`, a plural's ending included; npos: it does not.
std::size_t end_of(std::string_view text, std::size_t at, std::string_view term) {
  const bool exactly = std::isupper(static_cast<unsigned char>(term[0])) != 0;
  if (at + term.size() > text.size()) return npos;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (!same(text[at + i], term[i], exactly)) return npos;
  }
  const auto free = [&](std::size_t end) {
    if (end == text.size()) return true;
    const bool continues = is_word(text[end]) || text[end] == '-' || text[end] == '/';
    return !continues && (text[end] != '.' || end + 1 == text.size() || !is_word(text[end + 1]));
  };
  for (const std::string_view plural : {"", "s", "es"}) {
    const std::size_t end = at + term.size() + plural.size();
    if (text.substr(at + term.size()).starts_with(plural) && free(end)) return end;
  }
  return npos;
}

std::size_t end_of_identifier(std::string_view code, std::size_t at) {
  while (at < code.size() && is_word(code[at])) ++at;
  return at;
}

}  // namespace

std::vector<Chapter> chapters(const std::string& page) {
  std::vector<Chapter> all(1);
  std::istringstream in(page);
  bool fenced = false;
  int number = 1;
  for (std::string line; std::getline(in, line); ++number) {
    const bool fence = line.starts_with("```");
    if (!fenced && line.starts_with("## ")) all.push_back({number, {}});
    if (!fenced && !fence && !line.starts_with('#')) all.back().text += line;
    all.back().text += '\n';
    fenced = fenced != fence;
  }
  return all;
}

std::size_t find_term(std::string_view text, std::string_view term) {
  for (std::size_t at = 0; at + term.size() <= text.size(); ++at) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (is_word(before) || before == '-' || before == '/' || before == '#') continue;
    if (end_of(text, at, term) != npos) return at;
  }
  return npos;
}

bool is_bold(std::string_view text, std::string_view term) {
  for (std::size_t at = text.find("**"); at != npos; at = text.find("**", at + 1)) {
    const std::size_t end = end_of(text, at + 2, term);
    if (end != npos && text.substr(end).starts_with("**")) return true;
  }
  return false;
}

std::set<std::string> identifiers(std::string_view code) {
  std::set<std::string> all;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const std::size_t end = end_of_identifier(code, at);
    if (end > at) all.emplace(code.substr(at, end - at));
    at = end;
  }
  return all;
}

std::set<std::string> words_in_code_of(const std::string& page) {
  std::set<std::string> all;
  std::istringstream in(page);
  std::string prose;
  bool fenced = false, cpp = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      cpp = line == "```cpp";
    } else if (!fenced) {
      prose += line + '\n';
    } else if (cpp) {
      all.merge(identifiers(line));
    }
  }
  for (std::size_t begin = prose.find('`'); begin != npos; begin = prose.find('`', begin + 1)) {
    const std::size_t end = prose.find('`', begin + 1);
    all.merge(identifiers(std::string_view(prose).substr(begin, end - begin)));
    if (end == npos) break;
    begin = end;
  }
  return all;
}

std::string without_comments(const std::string& code) {
  std::istringstream in(code);
  std::string rest;
  for (std::string line; std::getline(in, line);) rest += line.substr(0, line.find("//")) + '\n';
  return rest;
}

std::set<std::string> calls(const std::string& code, const std::set<std::string>& members) {
  std::set<std::string> all;
  const std::string_view text = code;
  // The identifier behind each `mark`, if what follows it is one of `ends`.
  const auto collect = [&](std::string_view mark, std::string_view ends, bool known) {
    for (std::size_t at = text.find(mark); at != npos; at = text.find(mark, at + 1)) {
      const std::size_t begin = at + mark.size(), end = end_of_identifier(text, begin);
      std::string name(text.substr(begin, end - begin));
      const bool ends_well = ends.empty() || (end < text.size() && ends.find(text[end]) != npos);
      if (!name.empty() && ends_well && (!known || members.contains(name))) all.insert(std::move(name));
    }
  };
  collect("dist::", "", false);
  collect(".", "(<", true);
  collect("->", "(<", true);
  collect("{.", " ", false);
  collect(", .", " ", false);
  return all;
}

}  // namespace ladder
