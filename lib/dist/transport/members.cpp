#include "dist/transport/members.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

namespace dist {

Members::Members(std::vector<int> ranks) {
  if (!ranks.empty()) list_ = std::make_shared<const std::vector<int>>(std::move(ranks));
}

Members Members::everybody(int n) {
  static std::mutex mutex;
  static auto& made = *new std::map<int, std::weak_ptr<const std::vector<int>>>;  // outlives all threads
  const std::lock_guard lock(mutex);
  Members members;
  members.list_ = made[n].lock();
  if (members.list_) return members;
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  members = Members(std::move(ranks));
  made[n] = members.list_;
  return members;
}

int Members::group_rank_of(int global_rank) const {
  // Most groups are the whole job or nearly all of it, so try the position that the rank has in the whole
  // job.
  if (global_rank >= 0 && global_rank < size() && (*this)[global_rank] == global_rank) return global_rank;
  const auto found = std::ranges::find(list(), global_rank);
  return found == list().end() ? -1 : static_cast<int>(found - list().begin());
}

const std::vector<int>& Members::list() const {
  static const std::vector<int> nobody;
  return list_ ? *list_ : nobody;
}

}  // namespace dist
