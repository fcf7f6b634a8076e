// Lab 00, the solution. NOTES.md explains it.
#include "first_steps.h"

#include <fmt/format.h>

namespace lab {

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size());
}

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);  // in place: `sum` is the input, and afterwards the result
  return sum.item<float>();
}

float mean_of_all(float mine) { return sum_of_all(mine) / static_cast<float>(dist::get_world_size()); }

}  // namespace lab
