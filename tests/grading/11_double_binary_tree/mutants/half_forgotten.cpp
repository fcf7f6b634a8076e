// Misconception: the trees share the work, so each element travels in one of them. (The second tree was never
// used.)
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: half_forgotten
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  Tensor first = data.narrow(0, data.numel() / 2);
  right_double_tree_all_reduce(first, segment);
}

}  // namespace lab
