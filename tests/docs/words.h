// Words: phrases that no text, string or comment of this repository uses, by the table of
// tests/docs/WORDS.md.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace docs {

// A word in lower case, "." for what ends a sentence or a paragraph, "?" for the end of a question, or ","
// for any other mark between words.
struct Word {
  std::string text;
  int line = 0;
  bool is_capital = false;
};

// The words of a page, of the comments and strings of a source (by the name's extension), or of a script, all
// of it.
std::vector<Word> words_of(const std::filesystem::path& name, const std::string& content);

// A row of the table. Words of a phrase are separated by blanks; a/b stands for either word, ^ for the
// beginning of a sentence (with a capital letter), and "?" as an exception for a sentence that asks.
struct Phrase {
  std::string phrase, instead;
  std::vector<std::string> exceptions;  // longer phrases, which contain this one and are meant
};

struct Hit {
  int line = 0;
  std::string phrase, instead;
};

// Finds phrases in texts.
class PhraseFinder {
 public:
  explicit PhraseFinder(std::vector<Phrase> phrases);

  // Where the phrases are, in the order of the text. A phrase with a letter that is not ASCII is found
  // anywhere, since Chinese has no blanks.
  std::vector<Hit> hits(const std::filesystem::path& name, const std::string& content) const;

 private:
  // Each word as the list of those that it may be.
  using Pattern = std::vector<std::vector<std::string>>;
  struct Entry {
    Pattern pattern;
    std::vector<Pattern> exceptions;
    bool may_ask = false;
    const Phrase* phrase = nullptr;
  };

  std::vector<Phrase> phrases_;
  std::unordered_map<std::string, std::vector<Entry>> by_first_word_;
};

// The rows of all tables below the page's heading `## title`, without their heads; `|` separates the cells.
std::vector<std::vector<std::string>> table_below(const std::string& title, const std::string& page);

std::vector<Phrase> phrases_of(const std::string& page);

// A file that may use a phrase: the table of exceptions.
struct Pardon {
  std::string file, phrase, reason;
};
std::vector<Pardon> pardons_of(const std::string& page);

}  // namespace docs
