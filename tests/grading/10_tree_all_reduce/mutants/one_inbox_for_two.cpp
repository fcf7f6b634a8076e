// Misconception: both children's receives may be started at once, so one buffer may take both.
//
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: one_place_for_two
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  Tensor inbox = dist::empty_like(data);
  std::vector<Work> arrivals;
  for (const int child : place.children) arrivals.push_back(dist::irecv(inbox, child));
  for (Work& arrival : arrivals) {
    arrival.wait();
    add(data, inbox);
  }
  if (place.parent >= 0) dist::send(data, place.parent);
}

}  // namespace lab
