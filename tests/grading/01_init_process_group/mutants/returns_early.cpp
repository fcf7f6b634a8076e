// Misconception: the first process creates the group and the others join it, so no rank waits for any rank
// but rank 0.
//
// Killed by: Part2Rendezvous.waits_for_late_joiners
// Diagnosis: returns_before_all_joined
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  here.wait(std::vector{member_key(0)}, dist::Deadline::after(timeout));
  std::vector<std::string> membership;
  for (int rank = 0; rank < place.world_size; ++rank) {
    const bool is_there = here.check(std::vector{member_key(rank)});
    membership.push_back(is_there ? here.get_text(member_key(rank), dist::Deadline::never()) : "");
  }
  return membership;
}

}  // namespace lab
