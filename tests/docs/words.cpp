// A text is first cut into words; in a source, only comments and strings count. Prose puts a mark where code
// was, so that no phrase reaches across it. Phrases are then compared word by word, with an index by their
// first word.
#include "words.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace docs {
namespace {

constexpr char code = '\x01';

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

// Comments and strings as they are, anything else as marks, in lines of the same numbers.
class Prose {
 public:
  Prose(const std::string& source, bool has_templates) : source_(source), has_templates_(has_templates) {}

  std::string text() {
    while (at_ < source_.size()) step();
    return std::move(out_);
  }

 private:
  bool here(std::string_view what) const { return source_.compare(at_, what.size(), what) == 0; }
  char before() const { return at_ == 0 ? ' ' : source_[at_ - 1]; }

  void step() {
    const char c = source_[at_];
    if (here("//") && before() != ':')
      comment("\n");
    else if (here("/*"))
      comment("*/");
    else if (!has_templates_ && here("R\""))
      raw_string();
    else if (c == '"' || (c == '`' && has_templates_) || (c == '\'' && !is_letter(before())))
      string(c);
    else
      out_ += std::isspace(static_cast<unsigned char>(source_[at_++])) != 0 ? c : code;
  }

  void keep(std::size_t end) {
    for (; at_ < std::min(end, source_.size()); ++at_) out_ += source_[at_];
  }

  void comment(std::string_view end) {
    at_ += 2;
    while (at_ < source_.size() && !here(end)) {
      const bool leads = out_.empty() || out_.find_last_not_of(" *") == out_.rfind('\n');
      out_ += source_[at_] == '*' && leads ? ' ' : source_[at_];
      ++at_;
    }
    if (end != "\n") at_ += end.size();
  }

  void raw_string() {
    const auto open = source_.find('(', at_);
    const std::string end = ")" + source_.substr(at_ + 2, open - at_ - 2) + "\"";
    at_ = open == source_.npos ? source_.size() : open + 1;
    const auto close = source_.find(end, at_);
    keep(close);
    if (close != source_.npos) at_ += end.size();
  }

  void string(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] == '\n' && quote != '`') return;  // it was not a string
      if (source_[at_] == '\\' && at_ + 1 < source_.size()) {
        out_ += source_[++at_] == '\n' ? '\n' : ' ';
        continue;
      }
      out_ += source_[at_];
    }
    ++at_;
    out_ += ' ';
  }

  const std::string& source_;
  bool has_templates_;
  std::size_t at_ = 0;
  std::string out_;
};

// What opens a line and belongs to no sentence: of a shell's or Python's comment, a quotation, a list, a
// heading.
std::size_t lead(std::string_view line, bool& begins) {
  std::size_t at = 0;
  for (bool more = true; more && at < line.size();) {
    more = line[at] == ' ' || line[at] == '#' || line[at] == '>';
    const bool item = (line[at] == '-' || line[at] == '*') && at + 1 < line.size() && line[at + 1] == ' ';
    begins = begins || item;
    if (more || item) ++at;
    more = more || item;
  }
  begins = begins || at == line.size();
  return at;
}

char mark(char c) {
  if (c == '?') return '?';
  return std::string_view(".!;:|\x01").find(c) == std::string_view::npos ? ',' : '.';
}

void add_mark(std::vector<Word>& words, char sign, int line) {
  const bool ends = sign == '.' || sign == '?';
  if (!words.empty() && (words.back().text == "." || words.back().text == "?")) return;
  if (!words.empty() && words.back().text == ",") {
    if (ends) words.back().text = sign;
    return;
  }
  words.push_back({std::string(1, sign), line});
}

void add_line(std::vector<Word>& words, std::string_view line, int number) {
  bool begins = false;
  std::size_t at = lead(line, begins);
  if (begins) add_mark(words, '.', number);
  while (at < line.size()) {
    if (is_letter(line[at])) {
      std::string word;
      const bool is_capital = std::isupper(static_cast<unsigned char>(line[at])) != 0;
      for (; at < line.size() && is_letter(line[at]); ++at)
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(line[at])));
      words.push_back({word, number, is_capital});
    } else {
      if (line[at] != ' ' && line[at] != '\t' && line[at] != '\r') add_mark(words, mark(line[at]), number);
      ++at;
    }
  }
}

bool is_chinese(std::string_view phrase) {
  return std::ranges::any_of(phrase, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const auto begin = part.find_first_not_of(' ');
    if (begin == part.npos) continue;
    parts.push_back(part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
  }
  return parts;
}

using Pattern = std::vector<std::vector<std::string>>;

Pattern pattern_of(const std::string& phrase) {
  Pattern pattern;
  for (const std::string& word : split(phrase, ' ')) pattern.push_back(split(word, '/'));
  return pattern;
}

bool begins_sentence(const std::vector<Word>& words, std::size_t at) {
  return words.at(at).is_capital && (at == 0 || words[at - 1].text == "." || words[at - 1].text == "?");
}

bool matches(const std::vector<Word>& words, std::size_t at, const Pattern& pattern) {
  for (const auto& either : pattern) {
    if (either.front() == "^") {
      if (!begins_sentence(words, at)) return false;
      continue;
    }
    if (at >= words.size() || std::ranges::find(either, words[at].text) == either.end()) return false;
    ++at;
  }
  return true;
}

bool asks(const std::vector<Word>& words, std::size_t at) {
  while (at < words.size() && words[at].text != "." && words[at].text != "?") ++at;
  return at < words.size() && words[at].text == "?";
}

// Whether the words around `at` form the longer phrase.
bool are_part_of(const Pattern& longer, const std::vector<Word>& words, std::size_t at) {
  for (std::size_t back = 0; back < longer.size() && back <= at; ++back)
    if (matches(words, at - back, longer)) return true;
  return false;
}

}  // namespace

std::vector<Word> words_of(const std::filesystem::path& name, const std::string& content) {
  static const std::set<std::string> scripts{".ts", ".mjs", ".js"},
      sources{".cpp", ".h", ".cu", ".cuh", ".css"};
  const std::string kind = name.extension().string();
  std::string text = content;
  if (scripts.contains(kind) || sources.contains(kind)) text = Prose(content, scripts.contains(kind)).text();
  std::vector<Word> words;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) add_line(words, line, ++number);
  return words;
}

PhraseFinder::PhraseFinder(std::vector<Phrase> phrases) : phrases_(std::move(phrases)) {
  for (const Phrase& phrase : phrases_) {
    if (is_chinese(phrase.phrase)) continue;
    Entry entry{pattern_of(phrase.phrase), {}, false, &phrase};
    for (const std::string& exception : phrase.exceptions) {
      entry.may_ask = entry.may_ask || exception == "?";
      entry.exceptions.push_back(pattern_of(exception));
    }
    const bool is_anchored = entry.pattern.front().front() == "^";
    for (const std::string& first : entry.pattern.at(is_anchored ? 1 : 0))
      by_first_word_[first].push_back(entry);
  }
}

std::vector<Hit> PhraseFinder::hits(const std::filesystem::path& name, const std::string& content) const {
  std::vector<Hit> all;
  for (const Phrase& phrase : phrases_) {
    if (!is_chinese(phrase.phrase)) continue;
    for (auto at = content.find(phrase.phrase); at != content.npos;
         at = content.find(phrase.phrase, at + 1)) {
      const auto before =
          std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      all.push_back({1 + static_cast<int>(before), phrase.phrase, phrase.instead});
    }
  }
  const std::vector<Word> words = words_of(name, content);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto entries = by_first_word_.find(words[at].text);
    if (entries == by_first_word_.end()) continue;
    for (const Entry& entry : entries->second) {
      if (!matches(words, at, entry.pattern) || (entry.may_ask && asks(words, at))) continue;
      const bool is_meant = std::ranges::any_of(
          entry.exceptions, [&](const Pattern& longer) { return are_part_of(longer, words, at); });
      if (!is_meant) all.push_back({words[at].line, entry.phrase->phrase, entry.phrase->instead});
    }
  }
  std::ranges::stable_sort(all, {}, &Hit::line);
  return all;
}

std::vector<std::vector<std::string>> table_below(const std::string& title, const std::string& page) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(page);
  bool is_below = false, is_head = true;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) is_below = line == "## " + title;
    const bool is_row = line.starts_with("| ");
    if (is_below && is_row && !is_head) {
      std::vector<std::string> cells;
      std::istringstream row(line.substr(1));
      for (std::string cell; std::getline(row, cell, '|');) {
        const auto trimmed = split(cell, '\t');
        cells.push_back(trimmed.empty() ? "" : trimmed.front());
      }
      rows.push_back(cells);
    }
    if (line.starts_with("|---")) is_head = false;
    if (!line.starts_with("|")) is_head = true;
  }
  return rows;
}

std::vector<Phrase> phrases_of(const std::string& page) {
  std::vector<Phrase> phrases;
  for (const char* title : {"English", "Chinese"})
    for (const auto& row : table_below(title, page))
      for (const std::string& phrase : split(row.at(0), ','))
        phrases.push_back({phrase, row.at(1), split(row.at(2), ',')});
  return phrases;
}

std::vector<Pardon> pardons_of(const std::string& page) {
  std::vector<Pardon> pardons;
  for (const auto& row : table_below("Exceptions", page))
    for (const std::string& file : split(row.at(0), ','))
      for (const std::string& phrase : split(row.at(1), ',')) pardons.push_back({file, phrase, row.at(2)});
  return pardons;
}

}  // namespace docs
