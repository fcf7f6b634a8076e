// Misconception: each of the two layers is divided, so each of them ends with an all_reduce.
//
// Killed by: Part2Pair.one_all_reduce_each_way
// Diagnosis: reduces_too_much
#include "mutant.h"
#define pair_forward right_pair_forward
#include DIST_SOLUTION
#undef pair_forward

namespace lab {

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  kept.x = x;
  kept.hidden = column_forward(pair.first, x, context);
  const Tensor own = middle.forward(kept.hidden);
  // All columns on all ranks, each in its place; then this rank's again.
  Tensor count = dist::full({1}, own.size(1), dist::DType::i64);
  std::vector<Tensor> counts;
  for (int rank = 0; rank < context.group.size(); ++rank)
    counts.push_back(dist::empty({1}, dist::DType::i64));
  dist::all_gather(counts, count, {.group = context.group});
  std::int64_t all = 0, first = 0;
  for (int rank = 0; rank < context.group.size(); ++rank) {
    if (rank == context.group.rank()) first = all;
    all += counts[static_cast<std::size_t>(rank)].item<std::int64_t>();
  }
  const auto wide = static_cast<std::size_t>(all), from = static_cast<std::size_t>(first);
  std::vector<double> elements(static_cast<std::size_t>(own.size(0)) * wide);
  const std::vector<double> mine = own.to_vector<double>();
  const auto width = static_cast<std::size_t>(own.size(1));
  for (std::size_t i = 0; i < mine.size(); ++i) elements[i / width * wide + from + i % width] = mine[i];
  Tensor whole =
      dist::tensor<double>(std::span<const double>(elements)).to(own.dtype()).view({own.size(0), all});
  dist::all_reduce(whole, {.group = context.group});
  kept.inner = copy_of_columns(whole, {first, own.size(1)});
  return row_forward(pair.second, kept.inner, context);
}

}  // namespace lab
