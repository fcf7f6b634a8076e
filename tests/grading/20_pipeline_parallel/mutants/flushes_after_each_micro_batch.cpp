// Misconception: one forward, one backward: on every rank, from the beginning.
//
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: flushes_after_each_micro_batch
#include "mutant.h"
#define one_f_one_b right_one_f_one_b
#include DIST_SOLUTION
#undef one_f_one_b

namespace lab {

std::vector<Action> one_f_one_b(int, int, int micro_batches) {
  std::vector<Action> list;
  for (int j = 0; j < micro_batches; ++j) list.insert(list.end(), {{Kind::forward, j}, {Kind::backward, j}});
  return list;
}

}  // namespace lab
