// Wrong answers to lab 00, in the order of its parts: tests/README.md says how they are written.

#include <fmt/format.h>

#include "first_steps.h"

//// asks_before_joining
// Misconception: the launcher has numbered the processes, so they know their numbers without joining a group.
// Replaces: introduce
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: asks_before_joining

std::string introduce() { return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size()); }

//// counts_from_one
// Misconception: the first rank is rank 1.
// Replaces: introduce
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: counts_from_one

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank() + 1, dist::get_world_size());
}

//// four_ranks_always
// Misconception: the number of ranks is a constant of the program.
// Replaces: introduce
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: fixed_world_size

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank(), 4);
}

//// last_rank_as_world_size
// Misconception: the number of ranks is the number of the last rank.
// Replaces: introduce
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: last_rank_as_world_size

std::string introduce() {
  dist::init_process_group();
  return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size() - 1);
}

//// leaves_again
// Misconception: introduce() is a program of its own, which must leave the group at its end.
// Replaces: introduce
// Killed by: Part1Introduce.says_rank_and_world_size
// Diagnosis: leaves_again

std::string introduce() {
  const auto text = right_introduce();
  dist::destroy_process_group();
  return text;
}

//// all_reduces_again
// Misconception: calling a collective once more does no harm, if its effect is undone.
// Replaces: sum_of_all
// Killed by: Part2Sum.with_one_all_reduce
// Diagnosis: more_than_one_all_reduce

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  dist::all_reduce(sum);
  return sum.item<float>() / static_cast<float>(dist::get_world_size());
}

//// joins_again
// Misconception: every function that communicates must join the group first.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: joins_again

float sum_of_all(float mine) {
  dist::init_process_group();
  return right_sum_of_all(mine);
}

//// keeps_the_tensor
// Misconception: the tensor can be made once and used in every call.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: keeps_something

float sum_of_all(float mine) {
  static auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return sum.item<float>();
}

//// only_rank_0_adds
// Misconception: one rank does the adding, so only this rank has to call all_reduce.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: not_called_by_all

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  if (dist::get_rank() == 0) dist::all_reduce(sum);
  return sum.item<float>();
}

//// only_whole_numbers
// Misconception: the ranks contribute whole numbers, as in the examples.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: none

float sum_of_all(float mine) {
  auto sum = dist::full({1}, static_cast<std::int64_t>(mine), dist::DType::i64);
  dist::all_reduce(sum);
  return static_cast<float>(sum.item<std::int64_t>());
}

//// own_number_only
// Misconception: ranks share their variables, as threads do, so there is nothing to send.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: never_asks_the_others

float sum_of_all(float mine) {
  static float sum = 0;
  sum += mine;
  return sum;
}

//// returns_its_input
// Misconception: all_reduce leaves its argument alone and puts the sum somewhere else.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: result_not_read

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return mine;
}

//// sum_on_rank_0_only
// Misconception: all_reduce gives the sum to rank 0, as reduce does.
// Replaces: sum_of_all
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: result_on_rank_0_only

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return dist::get_rank() == 0 ? sum.item<float>() : mine;
}

//// waits_before_it_adds
// Misconception: all ranks must be there before all_reduce begins, so they wait for each other first.
// Replaces: sum_of_all
// Killed by: Part2Sum.with_one_all_reduce
// Diagnosis: none

float sum_of_all(float mine) {
  dist::barrier();
  return right_sum_of_all(mine);
}

//// counts_the_ranks_by_a_sum
// Misconception: the number of ranks is the sum of ones, so two sums make a mean.
// Replaces: mean_of_all
// Killed by: Part3Mean.with_one_all_reduce
// Diagnosis: more_than_one_all_reduce

float mean_of_all(float mine) { return sum_of_all(mine) / sum_of_all(1); }

//// divides_by_four
// Misconception: the number of ranks is that of the machine on which the program was written.
// Replaces: mean_of_all
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: fixed_world_size

float mean_of_all(float mine) { return sum_of_all(mine) / 4; }

//// divides_integers
// Misconception: numbers of ranks are integers, so the sum is divided as one.
// Replaces: mean_of_all
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: integer_division

float mean_of_all(float mine) {
  return static_cast<float>(static_cast<int>(sum_of_all(mine)) / dist::get_world_size());
}

//// rank_0_divides
// Misconception: one rank does the arithmetic, and the others get its result.
// Replaces: mean_of_all
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: result_on_rank_0_only

float mean_of_all(float mine) {
  const float sum = sum_of_all(mine);
  return dist::get_rank() == 0 ? sum / static_cast<float>(dist::get_world_size()) : sum;
}

//// remembers_the_mean
// Misconception: the mean of a program's ranks is the same in every call, so it can be kept.
// Replaces: mean_of_all
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: returns_the_first_result

float mean_of_all(float mine) {
  static const float mean = right_mean_of_all(mine);
  return mean;
}

//// sum_as_mean
// Misconception: all_reduce averages.
// Replaces: mean_of_all
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: not_divided

float mean_of_all(float mine) { return sum_of_all(mine); }
