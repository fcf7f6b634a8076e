// Blackboard: where ranks of one process that share no transport of their own (the simulator's) exchange
// their control messages: one copy for all, instead of one per pair.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dist/group/join/virtual_world.h"

namespace dist {

// Thread-safe.
class Blackboard {
 public:
  // Implements VirtualWorld::exchange. A call that is repeated after it was given up counts once. Throws
  // Error{peer_failed}; Error{mismatch}: others make this call with other members.
  std::shared_ptr<const Exchanged> exchange(const BoardCall& mine, std::vector<int>& missing);

  // That rank will say nothing more: every pending and later exchange that needs it ends with
  // Error{peer_failed}. `how`: "was lost at 3 us".
  void lose(int rank, const std::string& how);
  void rejoin(int rank);  // it takes part again

 private:
  struct Sheet;
  [[noreturn]] static void refuse(const BoardCall& mine, const std::string& why);
  [[noreturn]] static void refuse_group(const BoardCall& mine, const Sheet& sheet);
  using Key = std::tuple<std::uint32_t, int, std::uint64_t>;  // GroupState::key(), tag
  std::mutex mutex_;                                          // guards everything below
  std::map<Key, std::shared_ptr<Sheet>> sheets_;
  std::vector<std::pair<int, std::string>> lost_;  // rank, "rank 3 was lost at 3 us"
};

}  // namespace dist
