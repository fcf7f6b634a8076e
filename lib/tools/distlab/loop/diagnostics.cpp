#include "distlab/loop/diagnostics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace distlab::loop {
namespace {

// Removes ":17" from the end of `text` and returns the number, or 0 when there is none.
int take_number(std::string_view& text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) return 0;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc{} || stop != end || number <= 0) return 0;
  text = text.substr(0, colon);
  return number;
}

// "file:17:3" or "file:17".
std::optional<Place> place_of(std::string_view text) {
  Place place;
  place.line = take_number(text);
  if (place.line == 0 || text.empty()) return std::nullopt;
  if (const int before = take_number(text); before > 0) {
    place.column = place.line;
    place.line = before;
  }
  place.file = text;
  return place;
}

std::optional<Diagnostic> head_of(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, Severity>, 4> words{{{": fatal error: ", Severity::error},
                                                                        {": error: ", Severity::error},
                                                                        {": warning: ", Severity::warning},
                                                                        {": note: ", Severity::note}}};
  for (const auto& [word, severity] : words) {
    const auto at = line.find(word);
    if (at == line.npos) continue;
    auto place = place_of(line.substr(0, at));
    if (!place) continue;
    Diagnostic found;
    found.severity = severity;
    found.place = *std::move(place);
    found.message = line.substr(at + word.size());
    return found;
  }
  return std::nullopt;
}

// g++ prints "file:39:12:   required from here" before the error.
std::optional<Place> gcc_requirement(std::string_view line) {
  for (const std::string_view word :
       {":   required from ", ":   required by ", ":   recursively required "}) {
    const auto at = line.find(word);
    if (at != line.npos) return place_of(line.substr(0, at));
  }
  return std::nullopt;
}

// Returns true for lines between diagnostics that belong to neither.
bool is_context(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  return line.starts_with("In file included from") || line.starts_with("                 from ") ||
         has(": In function ") || has(": In member function ") || has(": In instantiation of ") ||
         has(": In substitution of ") || has(": In lambda function") || has(": At global scope") ||
         has(": In constructor ") || has(" generated.") || has("compilation terminated") ||
         has("all warnings being treated as errors") || has("ld returned") ||
         line.starts_with("/usr/bin/ld:") || has(": undefined reference to ");
}

// clang++ prints notes after the error that say where the template was used.
bool is_clang_requirement(const Diagnostic& note) {
  return note.message.starts_with("in instantiation of") || note.message.ends_with("requested here");
}

// Collects the diagnostics of one log.
class Parser {
 public:
  void add(const std::string& line) {
    if (const auto place = gcc_requirement(line)) {
      required_from_.push_back(*place);
      excerpt_ = nullptr;
    } else if (auto head = head_of(line)) {
      add_diagnostic(*std::move(head));
    } else if (is_context(line)) {
      excerpt_ = nullptr;
    } else if (excerpt_ != nullptr) {
      excerpt_->push_back(line);
    }
  }
  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  void add_diagnostic(Diagnostic diagnostic) {
    excerpt_ = nullptr;
    if (diagnostic.severity != Severity::note) {
      diagnostic.required_from = std::exchange(required_from_, {});
      found_.push_back(std::move(diagnostic));
      excerpt_ = &found_.back().excerpt;
    } else if (!found_.empty() && is_clang_requirement(diagnostic)) {
      found_.back().required_from.push_back(diagnostic.place);
    } else if (!found_.empty()) {
      found_.back().notes.push_back(std::move(diagnostic));
      excerpt_ = &found_.back().notes.back().excerpt;
    }
  }

  std::vector<Diagnostic> found_;
  std::vector<Place> required_from_;             // for the next error
  std::vector<std::string>* excerpt_ = nullptr;  // gets the next lines, until the next diagnostic
};

std::string without(std::string text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
  return text;
}

// Returns the symbol as a programmer would write it, without allocators and the library's version names.
std::string readable_symbol(std::string symbol) {
  const std::string_view long_string =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (std::size_t at; (at = symbol.find(long_string)) != symbol.npos;)
    symbol.replace(at, long_string.size(), "std::string");
  for (std::size_t at; (at = symbol.find(", std::allocator<")) != symbol.npos;) {
    int depth = 0;
    std::size_t end = symbol.find('<', at);
    for (; end < symbol.size(); ++end) {
      if (symbol[end] == '<') ++depth;
      if (symbol[end] == '>' && --depth == 0) break;
    }
    end = std::min(end + 1, symbol.size());
    if (end < symbol.size() && symbol[end] == ' ') ++end;
    symbol.erase(at, end - at);
  }
  return without(std::move(symbol), "__cxx11::");
}

// Returns "06" for a path with "lab_06_".
std::optional<std::string> lab_in(const std::string& line) {
  const auto at = line.find("lab_");
  const bool is_number = at != line.npos && at + 6 < line.size() && line[at + 6] == '_' &&
                         std::isdigit(static_cast<unsigned char>(line[at + 4])) != 0 &&
                         std::isdigit(static_cast<unsigned char>(line[at + 5])) != 0;
  return is_number ? std::optional(line.substr(at + 4, 2)) : std::nullopt;
}

// Returns the symbol after `word`, in the linker's quotes or up to the end of the line.
std::optional<std::string> symbol_after(std::string_view line, std::string_view word) {
  const auto at = line.find(word);
  if (at == line.npos) return std::nullopt;
  std::string_view rest = line.substr(at + word.size());
  if (rest.starts_with('`') || rest.starts_with('\'')) {
    rest.remove_prefix(1);
    rest = rest.substr(0, rest.find('\''));
  }
  return readable_symbol(std::string(rest));
}

}  // namespace

std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033' && i + 1 < text.size() && text[i + 1] == '[') {
      i = text.find_first_not_of("0123456789;?", i + 2);
      if (i == text.npos) break;  // the text ends inside a colour
    } else if (text[i] == '\n') {
      lines.emplace_back();
    } else if (text[i] != '\r') {
      lines.back() += text[i];
    }
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<Diagnostic> parse_diagnostics(std::string_view log) {
  Parser parser;
  for (const auto& line : plain_lines(log)) parser.add(line);
  return parser.take();
}

std::vector<LinkError> parse_link_errors(std::string_view log) {
  constexpr std::array<std::pair<std::string_view, LinkError::Kind>, 4> words{
      {{"undefined reference to ", LinkError::Kind::undefined},
       {"undefined symbol: ", LinkError::Kind::undefined},
       {"multiple definition of ", LinkError::Kind::defined_twice},
       {"duplicate symbol: ", LinkError::Kind::defined_twice}}};
  std::vector<LinkError> found;
  std::string lab;
  for (const auto& line : plain_lines(log)) {
    lab = lab_in(line).value_or(lab);
    for (const auto& [word, kind] : words) {
      const auto symbol = symbol_after(line, word);
      if (symbol && std::ranges::find(found, *symbol, &LinkError::symbol) == found.end())
        found.push_back({kind, lab, *symbol});
    }
  }
  return found;
}

}  // namespace distlab::loop
