// Misconception: a collective over all ranks finds the slowest rank of my column.
//
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: slowest_of_the_world
#include "mutant.h"
#define slowest_in_column right_slowest_in_column
#include DIST_SOLUTION
#undef slowest_in_column

namespace lab {

int slowest_in_column(const Mesh&, double seconds) {
  auto longest = dist::full({1}, seconds, DType::f64);
  dist::all_reduce(longest, ReduceOp::max);
  const bool is_slowest = seconds == longest.item<double>();
  auto first = dist::full({1}, is_slowest ? dist::get_rank() : dist::get_world_size(), DType::i32);
  dist::all_reduce(first, ReduceOp::min);
  return first.item<int>();
}

}  // namespace lab
