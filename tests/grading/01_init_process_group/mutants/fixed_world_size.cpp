// Misconception: the number of ranks is a constant of the program: that of the machine on which it was
// written.
//
// Killed by: Part2Rendezvous.every_rank_returns_the_same_membership
// Diagnosis: fixed_world_size
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  auto wrong = place;
  wrong.world_size = 4;
  return right_rendezvous(store, job, wrong, entry, timeout);
}

}  // namespace lab
