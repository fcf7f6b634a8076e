// Misconception: a sum does not depend on the order, so a rank adds what comes, from any rank. (A faster
// child may be in its next call.)
//
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: none
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  Tensor inbox = dist::empty_like(data);
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    dist::recv(inbox);
    add(data, inbox);
  }
  if (place.parent >= 0) dist::send(data, place.parent);
}

}  // namespace lab
