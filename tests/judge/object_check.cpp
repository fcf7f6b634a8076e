#include "judge/object_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace judge {
namespace fs = std::filesystem;
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Symbol {
  char kind;  // nm's letter
  std::string name;
  bool is(std::string_view kinds) const { return kinds.find(kind) != kinds.npos; }
  bool is_undefined() const { return is("Uwv"); }
  // C's: a weak one is as good as a strong one, as no template or inline function of C++ has such a name.
  bool is_plain() const { return std::ranges::all_of(name, is_word); }
  // Not local to its file, nor weak, as templates and inline functions are.
  bool is_strong() const { return is("TDBRGSC") || (is_plain() && is("WViuA")); }
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

// "dist::data" in "dist::data::Sampler::size()", even where that is an argument of a template.
bool lies_in(const std::string& name, const std::string& space) {
  const auto whole = space + "::";
  for (auto at = name.find(whole); at != std::string::npos; at = name.find(whole, at + 1)) {
    if (at == 0 || (!is_word(name[at - 1]) && name[at - 1] != ':')) return true;
  }
  return false;
}

// Reads them as make does: a blank in a name follows a backslash, and "$$" for a dollar sign.
std::vector<std::string> words_of_rule(const std::string& rule) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    const bool stands_for_next = (c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$');
    const bool is_between = c == ' ' || c == '\n' || (c == '\\' && next == '\n');
    if (stands_for_next) {
      words.back() += next;
      ++i;
    } else if (!is_between) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Calls that find functions by name, or libraries in memory, so that no symbol shows what is used.
constexpr std::array<std::string_view, 7> look_ups{"dlsym",           "dlvsym", "dlopen",  "dlmopen",
                                                   "dl_iterate_phdr", "dlinfo", "_r_debug"};

std::string_view without_version(std::string_view name) { return name.substr(0, name.find('@')); }

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
    if (symbol.is_undefined() && std::ranges::find(look_ups, without_version(symbol.name)) != look_ups.end())
      return fmt::format(
          "it uses {}, which looks up what is inside of the library; call what you need by its name",
          symbol.name);
    const auto owner =
        std::ranges::find_if(theirs, [&](const char* start) { return symbol.name.starts_with(start); });
    const bool is_judges = symbol.name.starts_with("judge::") || symbol.name.starts_with("testing::");
    // Weak ones are as good as strong ones where the linker reaches them first.
    const bool is_defined = symbol.is_strong() || (is_judges && symbol.is("WVuiA"));
    if (is_defined && owner != theirs.end())
      return fmt::format("it defines {}, which is not a lab's to define", symbol.name);
    if (symbol.is_undefined() && is_judges)
      return fmt::format("it uses {}, which is the grader's", symbol.name);
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

std::string interposing_symbol(const std::string& symbols, const std::string& interposed,
                               const std::string& library) {
  std::set<std::string> taken, of_library;
  for (const Symbol& symbol : parse(interposed)) taken.insert(symbol.name);
  for (const Symbol& symbol : parse(library))
    if (symbol.is_strong()) of_library.insert(symbol.name);
  for (const Symbol& symbol : parse(symbols)) {
    const bool is_librarys = symbol.is("WViuA") && of_library.contains(symbol.name);
    if ((symbol.is_strong() && taken.contains(symbol.name)) || is_librarys)
      return fmt::format("it defines {}, which a library has too: rename yours, or make it static",
                         symbol.name);
  }
  return "";
}

std::string foreign_include(const std::string& dependencies, const fs::path& root,
                            const std::set<std::string>& allowed) {
  const std::string start = fs::weakly_canonical(root).string() + "/";
  for (const auto& word : words_of_rule(dependencies)) {
    if (!word.starts_with('/')) continue;  // the object
    // The compiler reads this name differently than this check does.
    for (const char* changing : {"/proc/", "/sys/", "/dev/"})
      if (fs::path(word).lexically_normal().string().starts_with(changing)) return word;
    std::error_code none;
    const std::string path = fs::weakly_canonical(word, none);
    if (none) return word;
    if (path.starts_with(start) && !allowed.contains(path)) return path.substr(start.size());
  }
  return "";
}

bool has_hidden_code(std::string_view object) { return object.find(".gnu.lto_") != object.npos; }

}  // namespace judge
