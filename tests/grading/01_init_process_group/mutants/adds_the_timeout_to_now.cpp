// Misconception: the deadline is the present time plus the timeout. (The sum may be too large for the
// clock.)
//
// Killed by: Part2Rendezvous.waits_for_late_joiners
// Diagnosis: none
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto deadline =
      dist::Deadline::at(dist::Clock::now() + std::chrono::duration_cast<dist::Clock::duration>(timeout));
  dist::PrefixStore here(job, store);
  here.set(member_key(place.rank), entry);
  std::vector<std::string> all;
  std::string missing;
  for (int rank = 0; rank < place.world_size; ++rank) {
    try {
      all.push_back(here.get_text(member_key(rank), deadline));
    } catch (const dist::Error& error) {
      if (error.code() != Errc::timeout) throw;
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) fail(Errc::timeout, "missing ranks: {}", missing);
  return all;
}

}  // namespace lab
