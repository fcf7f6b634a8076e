// Misconception: there is always exactly one slowest rank. If several are equally slow, MAX over the ranks
// returns the last.
//
// Killed by: Part5Ranks.the_first_of_equally_slow_ones
// Diagnosis: last_of_equals
#include "mutant.h"
#define slowest_in_column right_slowest_in_column
#include DIST_SOLUTION
#undef slowest_in_column

namespace lab {

int slowest_in_column(const Mesh& mesh, double seconds) {
  auto longest = dist::full({1}, seconds, DType::f64);
  dist::all_reduce(longest, ReduceOp::max, {.group = mesh.column});
  auto last = dist::full({1}, seconds == longest.item<double>() ? dist::get_rank() : -1, DType::i32);
  dist::all_reduce(last, ReduceOp::max, {.group = mesh.column});
  return last.item<int>();
}

}  // namespace lab
