#include "dist/transport/area_pool.h"

#include <algorithm>

namespace dist::net {

AreaPool::AreaPool(std::shared_ptr<SharedSegment> own) : own_(std::move(own)) {
  for (int i = own_->areas(); i-- > 0;) free_.push_back(i);
}

std::optional<int> AreaPool::take(std::uint64_t group) {
  reclaim();
  if (free_.empty()) return std::nullopt;
  const int index = free_.back();
  free_.pop_back();
  SharedArea& area = own_->area(index);
  for (Notice& notice : area.notices) notice.round.store(0, std::memory_order_relaxed);
  for (auto* flag : {&area.flags.working, &area.flags.done, &area.flags.withdrawn, &area.flags.left})
    flag->store(0, std::memory_order_relaxed);
  area.flags.group.store(group);
  return index;
}

// Members that know it already do not wait for this rank to leave.
void AreaPool::give_back(int index) {
  own_->area(index).flags.group.store(0);
  free_.push_back(index);
}

void AreaPool::reclaim() {
  std::erase_if(retired_, [this](const RetiredArea& area) {
    // A member whose area serves another group has seen every rank leave.
    const bool all_left = std::ranges::all_of(area.members, [&](const SharedArea* member) {
      return member->flags.left.load() == area.group || member->flags.group.load() != area.group;
    });
    if (all_left) free_.push_back(area.index);
    return all_left;
  });
}

}  // namespace dist::net
