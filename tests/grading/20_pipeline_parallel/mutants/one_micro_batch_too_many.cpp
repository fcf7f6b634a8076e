// Misconception: one more micro-batch in flight keeps every rank busy.
//
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps
#include "mutant.h"
#define one_f_one_b right_one_f_one_b
#include DIST_SOLUTION
#undef one_f_one_b

namespace lab {

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, ranks - rank + 1); ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

}  // namespace lab
