// Misconception: every rank may get all numbers and add those of its half.
//
// Killed by: Part2HalfSum.keeps_all_digits_and_stays_in_its_half
// Diagnosis: none
#include "mutant.h"
#define half_sum right_half_sum
#include DIST_SOLUTION
#undef half_sum

namespace lab {

double half_sum(const Halves& halves, double mine) {
  std::vector<dist::Tensor> all;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) all.push_back(dist::empty({1}, dist::DType::f64));
  dist::all_gather(all, dist::full({1}, mine, dist::DType::f64));
  double sum = 0;
  for (const int rank : (halves.lower.is_member() ? halves.lower : halves.upper).ranks())
    sum += all[static_cast<std::size_t>(rank)].item<double>();
  return sum;
}

}  // namespace lab
