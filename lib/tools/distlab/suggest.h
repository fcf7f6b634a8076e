// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace distlab {

// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a` (optimal string
// alignment).
int edit_distance(std::string_view a, std::string_view b);

// The candidate that `word` was most likely meant to be: begins with it, or differs in at most a third of its
// letters. Empty when none is near.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace distlab
