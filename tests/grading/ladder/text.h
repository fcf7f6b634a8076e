// Words in handouts and in code, for the ladder check.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ladder {

// A part of a Markdown page from one heading "## ..." to the next. Blocks between ``` fences are left out, as
// empty lines.
struct Chapter {
  int first_line = 1;
  std::string text;
};
std::vector<Chapter> chapters(const std::string& page);

// Where `term` is a word of its own, in the plural too: not within `get_rank`, a path or a link's
// target. Letters may be large or small, unless the term begins with a large one ("Adam"); its spaces may be
// line ends. npos: nowhere.
std::size_t find_term(std::string_view text, std::string_view term);

// Whether the term, or its plural, appears somewhere in bold: "**ghost rows**".
bool is_bold(std::string_view text, std::string_view term);

// Identifiers between single backticks and in ```cpp blocks.
std::set<std::string> words_in_code_of(const std::string& page);

std::set<std::string> identifiers(std::string_view code);
std::string without_comments(const std::string& code);
// What the code asks of the library: X of `dist::X`, of `.X(` and `->X(` where X is one of `members`, and of
// `{.X =`.
std::set<std::string> calls(const std::string& code, const std::set<std::string>& members);

}  // namespace ladder
