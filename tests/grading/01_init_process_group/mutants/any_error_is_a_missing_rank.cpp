// Misconception: if the entry of a rank cannot be read, the rank is missing. (The store may be lost.)
//
// Killed by: Part2Rendezvous.names_the_missing_ranks
// Diagnosis: any_error_is_a_missing_rank
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
  std::string missing;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error&) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) fail(Errc::timeout, "missing ranks: {}", missing);
  return all;
}

}  // namespace lab
