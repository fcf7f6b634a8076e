// Names ranks in a sentence: ranks with equal texts are listed together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dist::check {

struct RankSays {
  int rank;          // global
  std::string what;  // ranks with equal texts are listed together
  std::string more;  // the first such rank's: " at train.cpp:41"; may be empty
};

struct Together {
  const RankSays* first;
  std::vector<int> ranks;
};

// In the order of their first ranks. The results point into `said`.
std::vector<Together> told_together(std::span<const RankSays> said);

// "ranks 0, 2, 3 are in all_reduce #7 (4 f32) at train.cpp:41; rank 1 is in broadcast #7 at train.cpp:44",
// with the verbs `one` and `several`: "is in ", "are in ".
std::string who_says_what(std::span<const RankSays> said, std::string_view one, std::string_view several);

// "rank 3" or "ranks 0, 2, 3"; long lists are shortened: "ranks 0, 1, 2, ... (24 in all)".
std::string list_ranks(std::span<const int> ranks);

}  // namespace dist::check
