// Misconception: all forwards must be over before the first backward.
//
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps
#include "mutant.h"
#define one_f_one_b right_one_f_one_b
#include DIST_SOLUTION
#undef one_f_one_b

namespace lab {

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  return gpipe(rank, ranks, micro_batches);
}

}  // namespace lab
