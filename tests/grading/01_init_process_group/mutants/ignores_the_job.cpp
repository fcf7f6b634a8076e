// Misconception: the store belongs to this job alone, so the key "member/<rank>" is unique.
//
// Killed by: Part2Rendezvous.two_jobs_on_one_store
// Diagnosis: ignores_the_job
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  store->set(fmt::format("{}/member/{}", job, place.rank),
             entry);  // published under the right key, but looked up under a wrong one
  store->set(member_key(place.rank), entry);
  std::vector<std::string> membership;
  const auto deadline = dist::Deadline::after(timeout);
  for (int rank = 0; rank < place.world_size; ++rank) {
    membership.push_back(store->get_text(member_key(rank), deadline));
  }
  return membership;
}

}  // namespace lab
