// Misconception: a softmax needs two all_reduces, one after the other.
//
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: two_exchanges
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) { softmax_of_row(shard); }

}  // namespace lab
