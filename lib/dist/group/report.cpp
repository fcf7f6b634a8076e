#include "dist/group/report.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace dist {

std::string list_ranks(std::span<const int> ranks) {
  constexpr std::size_t most = 12;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  if (ranks.size() <= most) return fmt::format("ranks {}", fmt::join(ranks, ", "));
  return fmt::format("ranks {}, ... ({} in all)", fmt::join(ranks.first(most), ", "), ranks.size());
}

std::string who_says_what(std::span<const RankSays> said, std::string_view one, std::string_view several) {
  struct Party {
    const RankSays* first;
    std::vector<int> ranks;
  };
  std::vector<Party> parties;
  for (const auto& says : said) {
    const auto found =
        std::ranges::find_if(parties, [&](const Party& party) { return party.first->what == says.what; });
    if (found == parties.end()) {
      parties.push_back({&says, {says.rank}});
    } else {
      found->ranks.push_back(says.rank);
    }
  }
  std::string text;
  for (const auto& [first, ranks] : parties) {
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", list_ranks(ranks),
                        ranks.size() == 1 ? one : several, first->what, first->more);
  }
  return text;
}

}  // namespace dist
