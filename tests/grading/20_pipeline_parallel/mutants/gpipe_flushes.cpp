// Misconception: a micro-batch is a small batch, and a batch is finished before the next one begins.
//
// Killed by: Part2Lists.gpipe_in_order
// Diagnosis: flushes_after_each_micro_batch
#include "mutant.h"
#define gpipe right_gpipe
#include DIST_SOLUTION
#undef gpipe

namespace lab {

std::vector<Action> gpipe(int, int, int micro_batches) {
  std::vector<Action> list;
  for (int j = 0; j < micro_batches; ++j) list.insert(list.end(), {{Kind::forward, j}, {Kind::backward, j}});
  return list;
}

}  // namespace lab
