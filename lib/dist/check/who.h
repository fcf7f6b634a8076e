// Who says what: ranks of which the same is said are told together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dist::check {

struct RankSays {
  int rank;          // global
  std::string what;  // equal texts are told together
  std::string more;  // of the first rank that says so: " at train.cpp:41"; may be empty
};

struct Together {
  const RankSays* first;
  std::vector<int> ranks;
};

// In the order of their first ranks. They point into `said`.
std::vector<Together> told_together(std::span<const RankSays> said);

// "ranks 0, 2, 3 are in all_reduce #7 (4 f32) at train.cpp:41; rank 1 is in broadcast #7 at train.cpp:44",
// where `one` and `several` are the verbs: "is in ", "are in ".
std::string who_says_what(std::span<const RankSays> said, std::string_view one, std::string_view several);

// "rank 3", "ranks 0, 2, 3"; long lists are cut: "ranks 0, 1, 2, ... (24 in all)".
std::string list_ranks(std::span<const int> ranks);

}  // namespace dist::check
