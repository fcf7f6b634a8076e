// Misconception: the pipeline has p ranks, so every rank begins with p forwards.
//
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps
#include "mutant.h"
#define one_f_one_b right_one_f_one_b
#include DIST_SOLUTION
#undef one_f_one_b

namespace lab {

std::vector<Action> one_f_one_b(int, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, ranks); ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

}  // namespace lab
