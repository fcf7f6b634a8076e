// Misconception: a timeout is a number of seconds.
//
// Killed by: Part2Rendezvous.has_one_deadline_for_the_whole_call
// Diagnosis: longer_than_the_timeout
#include "mutant.h"
#define rendezvous right_rendezvous
#include DIST_SOLUTION
#undef rendezvous

namespace lab {

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  const auto seconds =
      timeout > std::chrono::hours(1) ? timeout : std::chrono::ceil<std::chrono::seconds>(timeout);
  return right_rendezvous(store, job, place, entry, seconds);
}

}  // namespace lab
