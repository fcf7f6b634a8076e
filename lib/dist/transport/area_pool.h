// AreaPool: which areas of a rank's shared segment its groups use. An area is used again only when every
// member has left the group that it was for. Not synchronised: the engine holds the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dist/transport/link/shared_segment.h"

namespace dist::net {

// An area that this rank no longer needs.
struct RetiredArea {
  int index = 0;
  std::uint64_t group = 0;           // RoundFlags::group
  std::vector<SharedArea*> members;  // the areas of all ranks of the group, as they are mapped here
};

class AreaPool {
 public:
  explicit AreaPool(std::shared_ptr<SharedSegment> own);
  std::optional<int> take(std::uint64_t group);  // the area's index; nullopt when all are in use
  void give_back(int index);                     // for an area in which no round took place
  void retire(RetiredArea area) { retired_.push_back(std::move(area)); }

 private:
  void reclaim();
  std::shared_ptr<SharedSegment> own_;
  std::vector<int> free_;
  std::vector<RetiredArea> retired_;
};

}  // namespace dist::net
