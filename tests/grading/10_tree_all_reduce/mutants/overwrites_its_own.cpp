// Misconception: the sum is computed in data, so the children's sums are received there.
//
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: overwrites_its_own
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  for (const int child : place.children) dist::recv(data, child);
  if (place.parent >= 0) dist::send(data, place.parent);
}

}  // namespace lab
