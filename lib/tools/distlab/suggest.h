// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace distlab {

// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

// Returns the candidate that the user most likely meant: it begins with `word`, or differs in at most a third
// of the letters. Returns an empty text when no candidate is close enough.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace distlab
