// Misconception: there are numel / segment segments.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: none
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  Tensor whole = data.clone();
  right_double_tree_all_reduce(whole, segment);
  for (const std::size_t half : {0, 1}) {
    const auto length = data.chunk(2)[half].numel() / segment * segment;
    data.chunk(2)[half].narrow(0, length).copy_(whole.chunk(2)[half].narrow(0, length));
  }
}

}  // namespace lab
