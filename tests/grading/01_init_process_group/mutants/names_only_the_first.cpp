// Misconception: the first rank that is missing is reason enough to give up.
//
// Killed by: Part2Rendezvous.names_the_missing_ranks
// Diagnosis: names_only_the_first
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline = dist::Deadline::after(timeout);
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> all;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error& error) {
      if (error.code() != Errc::timeout) throw;
      fail(Errc::timeout, "missing ranks: {}", rank);
    }
  }
  return all;
}

}  // namespace lab
