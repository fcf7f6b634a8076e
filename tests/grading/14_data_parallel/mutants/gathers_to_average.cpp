// Misconception: a mean needs all the numbers, so every rank gathers them. (The result is right.)
//
// Killed by: Part2Average.each_sent_once
// Diagnosis: gathers_everything_to_average
#include "mutant.h"
#define average_gradients right_average_gradients
#include DIST_SOLUTION
#undef average_gradients

namespace lab {

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    Tensors all(static_cast<std::size_t>(dist::get_world_size()));
    for (Tensor& one : all) one = dist::empty_like(gradient);
    dist::all_gather(all, gradient);
    gradient.zero_();
    for (const Tensor& one : all) gradient.add_(one);
    gradient.div_(dist::get_world_size());
  }
}

}  // namespace lab
