#include "judge/rooted.h"

#include <algorithm>

#include <fmt/format.h>

namespace judge {

std::vector<int> shuffled_ranks(Random& random, int n) {
  std::vector<int> ranks;
  for (int rank = 0; rank < n; ++rank) ranks.push_back(rank);
  random.shuffle(ranks);
  return ranks;
}

std::vector<int> roots_in_turn(Random& random, int n) {
  std::vector<int> roots{random.between(0, n - 1)};
  while (std::ssize(roots) < n + 2) roots.push_back((roots.back() + 1) % n);
  return roots;
}

std::vector<Overlap> overlaps(Random& random, int n) {
  constexpr int late_us = 1000;
  std::vector<Overlap> all;
  const int first = random.between(0, n - 1);
  for (const int late : {first, (first + 1) % n}) {
    all.push_back(
        {std::vector<int>(static_cast<std::size_t>(n)), "", fmt::format("; rank {} is late", late)});
    all.back().delays_us[static_cast<std::size_t>(late)] = late_us;
  }
  for (int i = 0; i < 2; ++i)
    all.push_back({{}, std::to_string(random.between(1, 1'000'000)), ", with messages in another order"});
  return all;
}

void calls_mixed() {
  misconception("calls_mixed",
                "a message of another call was taken for one of this call; fix: receive from a rank by "
                "its number, because a receive from any rank also takes what a faster rank sends in "
                "its next call");
}

// A message of one call has a different size from that of another one.
void diagnose_mixed_calls(const dist::check::Finding& finding) {
  const auto takes_any = [](const auto& party) {
    return party.doing.find("from any rank") != std::string::npos;
  };
  if (finding.code == dist::check::Code::misfit_message && std::ranges::any_of(finding.parties, takes_any))
    calls_mixed();
}

std::vector<int> depths(const SimRun& done, int root) {
  std::vector<int> depth(done.ranks.size(), -1);
  depth[static_cast<std::size_t>(root)] = 0;
  for (std::size_t pass = 0; pass < depth.size(); ++pass) {  // links are in no particular order
    for (const auto& link : done.report.links) {
      const int above = depth[static_cast<std::size_t>(link.src)];
      int& below = depth[static_cast<std::size_t>(link.dst)];
      if (above >= 0 && below < 0) below = above + 1;
    }
  }
  return depth;
}

}  // namespace judge
