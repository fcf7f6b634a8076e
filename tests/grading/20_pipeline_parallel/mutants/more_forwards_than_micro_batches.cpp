// Misconception: there are always more micro-batches than ranks.
//
// Killed by: Part2Lists.fewer_micro_batches_than_ranks
// Diagnosis: more_forwards_than_micro_batches
#include "mutant.h"
#define one_f_one_b right_one_f_one_b
#include DIST_SOLUTION
#undef one_f_one_b

namespace lab {

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < ranks - rank; ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

}  // namespace lab
