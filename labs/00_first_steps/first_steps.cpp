// Lab 00: write these functions. README.md is the handout, first_steps.h is the
// specification.
//
//   ./distlab run 0      runs the demonstration with your code
//   ./distlab grade 0    tests your code
//   ./distlab hint 0     prints a hint
#include "first_steps.h"

#include <fmt/format.h>  // fmt::format("rank {} of {}", 2, 4) is "rank 2 of 4"

#include "dist/core/todo.h"

namespace lab {

std::string introduce() {
  // TODO: join the group of all ranks. Then say which rank this is.
  DIST_TODO("lab 00, part 1: join the group and name this rank");
}

float sum_of_all(float mine) {
  // TODO: put `mine` into a tensor, add the tensors of all ranks, return the
  // sum. The handout gives you a first version; it is wrong.
  DIST_TODO("lab 00, part 2: the sum over all ranks");
}

float mean_of_all(float mine) {
  // TODO: the sum over all ranks, divided by the number of ranks.
  DIST_TODO("lab 00, part 3: the mean over all ranks");
}

}  // namespace lab
