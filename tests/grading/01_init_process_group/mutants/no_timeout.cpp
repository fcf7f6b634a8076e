// Misconception: sooner or later every rank comes, so no timeout is needed.
//
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: ignores_the_timeout
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout) {
  return right_rendezvous(store, job, place, entry, dist::no_timeout);
}

}  // namespace lab
