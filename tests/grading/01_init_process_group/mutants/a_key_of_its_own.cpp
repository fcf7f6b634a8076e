// Misconception: any key that no other job uses will do.
//
// Killed by: Part2Rendezvous.publishes_under_the_agreed_key
// Diagnosis: none
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  return right_rendezvous(store, "members/" + job, place, entry, timeout);
}

}  // namespace lab
