// Misconception: k softmaxes need k times two all_reduces.
//
// Killed by: Part2OverRanks.two_all_reduces
// Diagnosis: a_collective_for_each_element
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  for (std::int64_t i = 0; i < data.numel(); ++i) {
    Tensor element = data.narrow(i, 1);
    right_softmax_over_ranks(element);
  }
}

}  // namespace lab
