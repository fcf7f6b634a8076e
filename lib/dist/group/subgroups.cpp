// new_subgroups() and its kind: what all ranks pass is compared, then split_group() makes the groups.
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/check_same.h"
#include "dist/group/process_group.h"

namespace dist {

ProcessGroup new_subgroups(int group_size, const SplitOptions& options, Caller at) {
  const ProcessGroup parent = options.parent ? options.parent : default_group(at);
  check_same("new_subgroups", fmt::format("a group size of {}", group_size), parent, at);
  if (group_size < 1 || parent.size() % group_size != 0)
    fail(Errc::invalid_argument, "new_subgroups at {}: a size of {} does not divide {}", at.str(), group_size,
         counted(parent.size(), "rank"));
  return split_group(parent.rank() / group_size, parent.rank(), options, at);
}

ProcessGroup new_subgroups_by_enumeration(const std::vector<std::vector<int>>& lists,
                                          const SplitOptions& options, Caller at) {
  const ProcessGroup parent = options.parent ? options.parent : default_group(at);
  std::string description;
  for (const auto& ranks : lists) description += fmt::format("the ranks {}\n", fmt::join(ranks, ", "));
  check_same("new_subgroups_by_enumeration", description, parent, at);
  std::map<int, std::pair<int, int>> places;  // global rank -> which list, and where in it
  for (std::size_t list = 0; list < lists.size(); ++list)
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      const int rank = lists[list][i];
      if (parent.group_rank(rank) < 0)
        fail(Errc::invalid_argument, "new_subgroups_by_enumeration at {}: rank {} is not in {}", at.str(),
             rank, parent.name());
      if (!places.emplace(rank, std::pair(static_cast<int>(list), static_cast<int>(i))).second)
        fail(Errc::invalid_argument, "new_subgroups_by_enumeration at {}: rank {} is in the lists twice",
             at.str(), rank);
    }
  const auto mine = places.find(parent.global_rank(parent.rank()));
  const auto [color, key] = mine == places.end() ? std::pair(-1, 0) : mine->second;
  return split_group(color, key, options, at);
}

}  // namespace dist
