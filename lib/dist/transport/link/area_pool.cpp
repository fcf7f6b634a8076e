#include "dist/transport/link/area_pool.h"

#include <utility>

namespace dist::net {

AreaPool::AreaPool(int areas) {
  for (int i = areas; i-- > 0;) free_.push_back(i);
}

std::optional<int> AreaPool::take() {
  const std::lock_guard lock(mutex_);
  std::erase_if(retired_, [this](const Retired& area) {
    const bool left = area.is_left();
    if (left) free_.push_back(area.index);
    return left;
  });
  if (free_.empty()) return std::nullopt;
  const int index = free_.back();
  free_.pop_back();
  return index;
}

void AreaPool::give_back(int index) {
  const std::lock_guard lock(mutex_);
  free_.push_back(index);
}

void AreaPool::retire(int index, std::function<bool()> is_left) {
  const std::lock_guard lock(mutex_);
  retired_.push_back({index, std::move(is_left)});
}

}  // namespace dist::net
