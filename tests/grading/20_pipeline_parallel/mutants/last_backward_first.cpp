// Misconception: backward begins with the last one, so it begins with the last micro-batch.
//
// Killed by: Part2Lists.gpipe_in_order
// Diagnosis: last_backward_first
#include "mutant.h"
#define gpipe right_gpipe
#include DIST_SOLUTION
#undef gpipe

namespace lab {

std::vector<Action> gpipe(int rank, int ranks, int micro_batches) {
  auto list = right_gpipe(rank, ranks, micro_batches);
  std::reverse(list.begin() + micro_batches, list.end());
  return list;
}

}  // namespace lab
