#include "dist/check/who.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

namespace dist::check {

std::vector<Together> told_together(std::span<const RankSays> said) {
  std::vector<Together> together;
  std::map<std::string_view, std::size_t> place;
  for (const RankSays& says : said) {
    const auto [found, is_new] = place.try_emplace(says.what, together.size());
    if (is_new) together.push_back({&says, {}});
    together[found->second].ranks.push_back(says.rank);
  }
  for (Together& each : together) std::ranges::sort(each.ranks);
  return together;
}

std::string who_says_what(std::span<const RankSays> said, std::string_view one, std::string_view several) {
  std::string text;
  for (const auto& [first, ranks] : told_together(said)) {
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", list_ranks(ranks),
                        ranks.size() == 1 ? one : several, first->what, first->more);
  }
  return text;
}

std::string list_ranks(std::span<const int> ranks) {
  constexpr std::size_t most = 12;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  if (ranks.size() <= most) return fmt::format("ranks {}", fmt::join(ranks, ", "));
  return fmt::format("ranks {}, ... ({} in all)", fmt::join(ranks.first(most), ", "), ranks.size());
}

}  // namespace dist::check
