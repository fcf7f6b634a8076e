// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_place
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  data = data.clone();
  right_double_tree_all_reduce(data, segment);
}

}  // namespace lab
