// Misconception: keys in sorted order are ranks in order. As text, 10 comes before 2.
//
// Killed by: Part2Rendezvous.every_rank_returns_the_same_membership
// Diagnosis: ordered_as_text
#include <map>

#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto right = right_rendezvous(store, job, place, entry, timeout);
  std::map<std::string, std::string> by_key;
  for (int rank = 0; rank < place.world_size; ++rank)
    by_key[member_key(rank)] = right[static_cast<std::size_t>(rank)];
  std::vector<std::string> membership;
  for (const auto& [key, value] : by_key) membership.push_back(value);
  return membership;
}

}  // namespace lab
