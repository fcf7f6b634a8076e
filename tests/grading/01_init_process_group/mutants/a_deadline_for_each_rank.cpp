// Misconception: passing the timeout to every wait limits the whole call. It limits each wait.
//
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: a_deadline_for_each_wait
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> membership;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      membership.push_back(here.get_text(member_key(rank), dist::Deadline::after(timeout)));
    } catch (const dist::Error&) {
      fail(Errc::timeout, "rank {} waited; missing ranks: {}", place.rank,
           fmt::join(missing_ranks(here, place.world_size), ", "));
    }
  }
  return membership;
}

}  // namespace lab
