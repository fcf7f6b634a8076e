// Blackboard: where ranks of one process that share no transport of their own (the simulator's) tell each
// other their control messages: one copy for all, instead of one a pair.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "dist/core/deadline.h"
#include "dist/group/control.h"

namespace dist {

// Thread-safe.
class Blackboard {
 public:
  // Writes down what a rank says in call `tag` of its group, and waits until all members have done so. Null
  // when the deadline passed first; `missing` then has the group ranks that did not come.
  std::shared_ptr<const Exchanged> exchange(const GroupState& group, std::uint64_t tag, Deadline deadline,
                                            const ControlMessage& mine, std::vector<int>& missing);

 private:
  struct Sheet;
  using Key = std::pair<std::pair<std::uint32_t, int>, std::uint64_t>;  // GroupState::key(), tag
  std::mutex mutex_;                                                    // of all below
  std::map<Key, std::shared_ptr<Sheet>> sheets_;
};

}  // namespace dist
