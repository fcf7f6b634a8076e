#include "judge/object_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace judge {
namespace {

struct Symbol {
  char kind;  // nm's letter
  std::string name;
  bool is_undefined() const { return kind == 'U'; }
  // Neither weak, as templates and inline functions are, nor local to its file.
  bool is_strong() const { return std::string_view("TDBRGSC").find(kind) != std::string_view::npos; }
};

// Lines "0000000000000010 T lab::relay(int)", "                 U dist::recv(...)".
std::vector<Symbol> parse(const std::string& printed) {
  constexpr std::size_t kind = 17, name = 19;
  std::vector<Symbol> symbols;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > name && line[kind - 1] == ' ' && line[kind + 1] == ' ')
      symbols.push_back({line[kind], line.substr(name)});
  }
  return symbols;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words of "a::b::c" from `at` on.
std::vector<std::string> chain(const std::string& name, std::size_t at) {
  std::vector<std::string> words;
  for (;;) {
    auto end = at;
    while (end < name.size() && is_word(name[end])) ++end;
    if (end > at) words.push_back(name.substr(at, end - at));
    if (end == at || name.compare(end, 2, "::") != 0) return words;
    at = end + 2;
  }
}

// "dist::data" in "dist::data::Sampler::size()", also where that is an argument of a template.
bool lies_in(const std::string& name, const std::string& space) {
  const auto whole = space + "::";
  for (auto at = name.find(whole); at != std::string::npos; at = name.find(whole, at + 1)) {
    if (at == 0 || (!is_word(name[at - 1]) && name[at - 1] != ':')) return true;
  }
  return false;
}

}  // namespace

std::set<std::string> kept_away(const std::string& contract) {
  constexpr std::string_view start = "// Not for this lab: ";
  std::set<std::string> spaces;
  std::istringstream lines(contract);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) spaces.insert(line.substr(start.size()));
  }
  return spaces;
}

std::set<std::string> words_in(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string foreign_symbol(const std::string& symbols, const std::set<std::string>& words,
                           const std::set<std::string>& kept_away) {
  constexpr std::array theirs{"dist::", "judge::", "testing::", "std::", "fmt::", "nlohmann::"};
  const std::string_view library = "dist::";
  for (const Symbol& symbol : parse(symbols)) {
    const auto owner =
        std::ranges::find_if(theirs, [&](const char* start) { return symbol.name.starts_with(start); });
    if (symbol.is_strong() && owner != theirs.end())
      return fmt::format("it defines {}, which is not a lab's to define", symbol.name);
    if (symbol.is_undefined() && (symbol.name.starts_with("judge::") || symbol.name.starts_with("testing::")))
      return fmt::format("it uses {}, which is the judge's", symbol.name);
    for (const auto& space : kept_away) {
      if (lies_in(symbol.name, space))
        return fmt::format("it uses {}; what the library has in {} is what this lab asks you to write",
                           symbol.name, space);
    }
    for (auto at = symbol.name.find(library); symbol.is_undefined() && at != std::string::npos;
         at = symbol.name.find(library, at + 1)) {
      for (const auto& word : chain(symbol.name, at + library.size())) {
        if (!words.contains(word))
          return fmt::format("it uses {}, from inside of the library; dist/dist.h is what a lab may use",
                             symbol.name);
      }
    }
  }
  return "";
}

std::string interposing_symbol(const std::string& symbols, const std::string& interposed) {
  std::set<std::string> taken;
  for (const Symbol& symbol : parse(interposed)) taken.insert(symbol.name);
  for (const Symbol& symbol : parse(symbols)) {
    if (symbol.is_strong() && taken.contains(symbol.name))
      return fmt::format("it defines {}, which a library has too: rename yours, or make it static",
                         symbol.name);
  }
  return "";
}

std::string foreign_include(const std::string& dependencies, const std::string& root,
                            const std::set<std::string>& allowed) {
  std::istringstream words(dependencies);
  for (std::string word; words >> word;) {
    if (word.starts_with(root + "/") && !allowed.contains(word)) return word.substr(root.size() + 1);
  }
  return "";
}

}  // namespace judge
