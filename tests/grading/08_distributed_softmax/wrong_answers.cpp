// Wrong answers to lab 08, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "distributed_softmax.h"

//// a_norm_for_each_element
// Misconception: each element has a norm of its own, so each has an all_reduce of its own.
// Replaces: normalize
// Killed by: Part1OverRanks.one_all_reduce
// Diagnosis: a_collective_for_each_element

void normalize(Tensor& data) {
  for (std::int64_t i = 0; i < data.numel(); ++i) {
    Tensor one = data.narrow(i, 1);
    right_normalize(one);
  }
}

//// a_smallest_norm
// Misconception: a norm is never below 1e-12: dividing by the larger of the two cannot fail.
// Replaces: normalize
// Killed by: Part1OverRanks.awkward_sizes_and_zeros
// Diagnosis: none

void normalize(Tensor& data) {
  auto numbers = data.to_vector<double>(), squares = numbers;
  for (double& x : squares) x *= x;
  squares = reduced(squares, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] /= std::max(std::sqrt(squares[i]), 1e-12);
  store(data, numbers);
}

//// an_all_reduce_for_the_weights
// Misconception: two sums need two all_reduces.
// Replaces: weighted_mean
// Killed by: Part1OverRanks.one_all_reduce
// Diagnosis: an_all_reduce_for_the_weights

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
  data.div_(reduced({weight}, ReduceOp::sum)[0]);
}

//// norm_of_its_own
// Misconception: the L2 norm is that of the rank's own vector.
// Replaces: normalize
// Killed by: Part1OverRanks.normalize
// Diagnosis: norm_of_its_own

void normalize(Tensor& data) {
  const double squares = dist::sum(data * data);
  if (squares > 0) data.div_(std::sqrt(squares));
}

//// root_before_the_sum
// Misconception: a norm is a sum of roots of squares, so the root may be taken first.
// Replaces: normalize
// Killed by: Part1OverRanks.normalize
// Diagnosis: root_before_the_sum

void normalize(Tensor& data) {
  Tensor sizes = dist::sqrt(data * data);
  dist::all_reduce(sizes, ReduceOp::sum);
  data.copy_(data / sizes);
}

//// weights_by_average
// Misconception: AVG divides, so the result is a mean whatever the weights are.
// Replaces: weighted_mean
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: divided_by_the_ranks

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::avg);
}

//// weights_not_summed
// Misconception: weights sum to 1, so the weighted sum is the mean.
// Replaces: weighted_mean
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: weights_not_summed

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
}

//// weights_of_its_own
// Misconception: a rank divides by its own weight, because it knows only that one.
// Replaces: weighted_mean
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: weights_of_its_own

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
  data.div_(weight);
}

//// zero_by_zero
// Misconception: a division never fails.
// Replaces: normalize
// Killed by: Part1OverRanks.awkward_sizes_and_zeros
// Diagnosis: zero_by_zero

void normalize(Tensor& data) {
  Tensor squares = data * data;
  dist::all_reduce(squares, ReduceOp::sum);
  data.copy_(data / dist::sqrt(squares));
}

//// a_collective_for_each_element
// Misconception: k softmaxes need k times two all_reduces.
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.two_all_reduces
// Diagnosis: a_collective_for_each_element

void softmax_over_ranks(Tensor& data) {
  for (std::int64_t i = 0; i < data.numel(); ++i) {
    Tensor element = data.narrow(i, 1);
    right_softmax_over_ranks(element);
  }
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.probabilities
// Diagnosis: not_in_place

void softmax_over_ranks(Tensor& data) {
  Tensor shares = data.clone();
  right_softmax_over_ranks(shares);
  data = shares;
}

//// along_the_wrong_axis
// Misconception: a softmax runs over the elements of a tensor. (In part 2 it runs over the ranks.)
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.probabilities
// Diagnosis: along_the_wrong_axis

void softmax_over_ranks(Tensor& data) {
  auto numbers = data.to_vector<double>();
  const double max = largest(numbers), sum = exp_sum(numbers, max);
  for (double& x : numbers) x = share(shifted_exp(x, max), sum);
  store(data, numbers);
}

//// exp_of_a_sum
// Misconception: exp and sum may be swapped: first the sum, by all_reduce, then exp of it.
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.probabilities
// Diagnosis: exp_of_a_sum

void softmax_over_ranks(Tensor& data) {
  Tensor sum = data.clone();
  dist::all_reduce(sum, ReduceOp::sum);
  data.copy_(dist::exp(data) / dist::exp(sum));
}

//// masked_over_ranks_is_nan
// Misconception: x - max is never more than 0, so exp of it is always a number.
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.masked_entries_and_awkward_sizes
// Diagnosis: masked_is_nan

void softmax_over_ranks(Tensor& data) {
  auto numbers = data.to_vector<double>();
  const auto max = reduced(numbers, ReduceOp::max);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::exp(numbers[i] - max[i]);
  const auto sums = reduced(numbers, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] /= sums[i];
  store(data, numbers);
}

//// no_max
// Misconception: the formula is exp(x) / sum of exp(x), and subtracting the max is only a refinement.
// Replaces: softmax_over_ranks
// Killed by: Part2OverRanks.stable_at_1e4
// Diagnosis: no_max

void softmax_over_ranks(Tensor& data) {
  Tensor exps = dist::exp(data), sum = exps.clone();
  dist::all_reduce(sum, ReduceOp::sum);
  data.copy_(exps / sum);
}

//// a_lower_number_for_masked
// Misconception: no logit is below -1e30, so that is what a masked entry is.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: finite_entries_masked

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  for (double& x : row)
    if (x < -1e30) x = -infinity;
  store(shard, row);
  right_softmax_of_row(shard);
}

//// a_number_for_masked
// Misconception: no logit is below minus a billion, so that is what a masked entry is.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: finite_entries_masked

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  for (double& x : row)
    if (x < -1e9) x = -infinity;
  store(shard, row);
  right_softmax_of_row(shard);
}

//// digits_lost_in_float
// Misconception: the logits are f32, so f32 is enough for x - (max + log(sum)), too.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: digits_lost

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  const auto log_sum = static_cast<float>(max + std::log(sum));
  for (double& x : row) x = std::exp(static_cast<float>(x) - log_sum);
  store(shard, row);
}

//// empty_shard_leaves
// Misconception: a rank without elements has nothing to do.
// Replaces: softmax_of_row
// Killed by: Part3Row.empty_shards
// Diagnosis: empty_shard_leaves

void softmax_of_row(Tensor& shard) {
  if (shard.numel() == 0) return;
  right_softmax_of_row(shard);
}

//// exp_of_the_rows_sum
// Misconception: the sum of the exps is the exp of the sum.
// Replaces: softmax_of_row
// Killed by: Part3Row.uneven_shards
// Diagnosis: exp_of_a_sum

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  double logits = 0;
  for (const double x : row) logits += x - max;
  const double sum = std::exp(reduced({logits}, ReduceOp::sum)[0]);
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

//// f64_through_f32
// Misconception: the model computes in f32, so every tensor may be read as f32.
// Replaces: softmax_of_row
// Killed by: Part3Row.uneven_shards
// Diagnosis: digits_lost

void softmax_of_row(Tensor& shard) {
  Tensor short_digits = shard.to(dist::DType::f32);
  right_softmax_of_row(short_digits);
  store(shard, short_digits.to_vector<double>());
}

//// gathers_the_logits
// Misconception: a softmax needs all entries, so every rank gets all of them. (The result is right.)
// Replaces: softmax_of_row
// Killed by: Part3Row.two_small_all_reduces
// Diagnosis: gathers_the_logits

void softmax_of_row(Tensor& shard) {
  const auto row = shard.to_vector<double>();
  const auto longest =
      static_cast<std::int64_t>(reduced({static_cast<double>(row.size())}, ReduceOp::max)[0]);
  Tensor padded = dist::full({longest}, -infinity, dist::DType::f64);
  Tensor mine = padded.narrow(0, shard.numel());
  mine.copy_(shard.to(dist::DType::f64));
  Tensor all = dist::zeros({longest * dist::get_world_size()}, dist::DType::f64);
  dist::all_gather_into_tensor(all, padded);
  const auto whole = all.to_vector<double>();
  const double max = largest(whole), sum = exp_sum(whole, max);
  auto shares = row;
  for (double& x : shares) x = share(shifted_exp(x, max), sum);
  store(shard, shares);
}

//// local_max
// Misconception: subtracting a max makes exp safe, and a rank's own max is at hand.
// Replaces: softmax_of_row
// Killed by: Part3Row.uneven_shards
// Diagnosis: local_max

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = largest(row);
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

//// masked_row_is_nan
// Misconception: x - max is never more than 0, so exp of it is always a number.
// Replaces: softmax_of_row
// Killed by: Part3Row.masked_entries
// Diagnosis: masked_is_nan

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  for (double& x : row) x = std::exp(x - max);
  double own = 0;
  for (const double x : row) own += x;
  const double sum = reduced({own}, ReduceOp::sum)[0];
  for (double& x : row) x /= sum;
  store(shard, row);
}

//// max_of_nothing
// Misconception: every shard has a largest element.
// Replaces: softmax_of_row
// Killed by: Part3Row.empty_shards
// Diagnosis: max_of_nothing

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({dist::max(shard)}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

//// max_starts_at_a_low_number
// Misconception: no logit is below -1e30, so a max may begin there.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: max_starts_too_high

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  double own = -1e30;
  for (const double x : row) own = std::max(own, x);
  const double max = reduced({own}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

//// max_starts_at_zero
// Misconception: a max begins at 0, as a sum does.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: max_starts_at_zero

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  double own = 0;
  for (const double x : row) own = std::max(own, x);
  const double max = reduced({own}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

//// no_max_in_the_row
// Misconception: exp(x) / sum of exp(x) needs one all_reduce instead of two, so the max is left out.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: no_max

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double sum = reduced({exp_sum(row, 0)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, 0), sum);
  store(shard, row);
}

//// normalised_by_the_local_sum
// Misconception: the max is over the row, but the sum is over the rank's own exps.
// Replaces: softmax_of_row
// Killed by: Part3Row.uneven_shards
// Diagnosis: normalised_by_the_local_sum

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0], sum = exp_sum(row, max);
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

//// sends_the_row
// Misconception: two all_reduces are allowed, so they may carry the row, with each rank's shard in its
// position.
// Replaces: softmax_of_row
// Killed by: Part3Row.two_small_all_reduces
// Diagnosis: sends_the_row

#include <utility>
#include SOLUTION

void softmax_of_row(Tensor& shard) {
  Numbers lengths(static_cast<std::size_t>(dist::get_world_size()));
  lengths[static_cast<std::size_t>(dist::get_rank())] = static_cast<double>(shard.numel());
  lengths = reduced(lengths, ReduceOp::sum);
  std::size_t before = 0, all = 0;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    if (std::cmp_less(rank, dist::get_rank())) before += static_cast<std::size_t>(lengths[rank]);
    all += static_cast<std::size_t>(lengths[rank]);
  }
  const auto row = shard.to_vector<double>();
  Numbers whole(all, -infinity);
  std::copy(row.begin(), row.end(), whole.begin() + static_cast<std::ptrdiff_t>(before));
  whole = reduced(whole, ReduceOp::max);
  const double max = largest(whole), sum = exp_sum(whole, max);
  auto shares = row;
  for (double& x : shares) x = share(shifted_exp(x, max), sum);
  store(shard, shares);
}

//// small_is_nothing
// Misconception: a probability below 1e-30 is 0.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: none

void softmax_of_row(Tensor& shard) {
  right_softmax_of_row(shard);
  auto row = shard.to_vector<double>();
  for (double& x : row)
    if (x < 1e-30) x = 0;
  store(shard, row);
}

//// sum_of_maxima
// Misconception: any number may be subtracted from all entries, so the sum of the maxima will do.
// Replaces: softmax_of_row
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: maxima_added

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::sum)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

//// gathers_maxima_then_sums
// Misconception: two small all_gathers, of the maxima and then of the sums, are as good as one.
// Replaces: softmax_in_one
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: two_exchanges

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const auto gathered = [](double mine) {
    Tensor all = dist::zeros({dist::get_world_size()}, dist::DType::f64);
    dist::all_gather_into_tensor(all, dist::tensor({mine}));
    return all.to_vector<double>();
  };
  const double max = largest(gathered(largest(row)));
  double sum = 0;
  for (const double own : gathered(exp_sum(row, max))) sum += own;
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

//// inf_minus_inf
// Misconception: exp(own max - new max) needs no exception, because the difference is never more than 0.
// Replaces: merge
// Killed by: Part4Merge.minus_infinity_is_neutral
// Diagnosis: inf_minus_inf

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double max = std::max(a.max, b.max);
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(b.max - max)};
}

//// maxima_added
// Misconception: pairs are merged by adding them: max to max and sum to sum.
// Replaces: merge
// Killed by: Part4Merge.two_pairs
// Diagnosis: maxima_added

MaxSum merge(const MaxSum& a, const MaxSum& b) { return {a.max + b.max, a.sum + b.sum}; }

//// messages_by_hand
// Misconception: an exchange is messages: every rank sends its pair to every other rank. (The result is
// right.)
// Replaces: softmax_in_one
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: messages_by_hand

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum mine;
  for (const double x : row) mine = merge(mine, {x, 1});
  const int n = dist::get_world_size(), rank = dist::get_rank();
  const Tensor pair = dist::tensor({mine.max, mine.sum});
  MaxSum total;
  for (int from = 0; from < n; ++from) {
    Tensor theirs = pair.clone();
    for (int to = 0; to < n && from == rank; ++to) {
      if (to != rank) dist::send(theirs, to);
    }
    if (from != rank) dist::recv(theirs, from);
    const auto numbers = theirs.to_vector<double>();
    total = merge(total, {numbers[0], numbers[1]});
  }
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

//// one_side_rescaled
// Misconception: b comes later, so only the earlier sum is rescaled. (This is right only if b has the larger
// max.)
// Replaces: merge
// Killed by: Part4Merge.two_pairs
// Diagnosis: one_side_rescaled

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double max = std::max(a.max, b.max);
  if (max == -infinity) return {};
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(std::min(0.0, a.max - b.max))};
}

//// own_pair_first
// Misconception: the order of the pairs makes no difference, so a rank begins with its own.
// Replaces: softmax_in_one
// Killed by: Part4InOne.same_bits_on_all_ranks
// Diagnosis: each_rank_merges_in_its_own_order

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum total;
  for (const double x : row) total = merge(total, {x, 1});
  const int n = dist::get_world_size(), rank = dist::get_rank();
  Tensor all = dist::zeros({2 * n}, dist::DType::f64);
  dist::all_gather_into_tensor(all, dist::tensor({total.max, total.sum}));
  const auto pairs = all.to_vector<double>();
  for (int step = 1; step < n; ++step) {
    const auto i = static_cast<std::size_t>(2 * ((rank + step) % n));
    total = merge(total, {pairs[i], pairs[i + 1]});
  }
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

//// pairs_added_up
// Misconception: the sums of all pairs are added, and the max is the largest one.
// Replaces: softmax_in_one
// Killed by: Part4InOne.any_row
// Diagnosis: sums_not_rescaled

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double own = largest(row);
  Tensor all = dist::zeros({2 * dist::get_world_size()}, dist::DType::f64);
  dist::all_gather_into_tensor(all, dist::tensor({own, exp_sum(row, own)}));
  const auto pairs = all.to_vector<double>();
  MaxSum total;
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    total = {std::max(total.max, pairs[i]), total.sum + pairs[i + 1]};
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

//// pairs_in_float
// Misconception: a tensor of two numbers is a tensor of f32.
// Replaces: softmax_in_one
// Killed by: Part4InOne.any_row
// Diagnosis: digits_lost

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum mine;
  for (const double x : row) mine = merge(mine, {x, 1});
  Tensor all = dist::zeros({2 * dist::get_world_size()});
  dist::all_gather_into_tensor(all,
                               dist::tensor({static_cast<float>(mine.max), static_cast<float>(mine.sum)}));
  const auto pairs = all.to_vector<double>();
  MaxSum total;
  for (std::size_t i = 0; i < pairs.size(); i += 2) total = merge(total, {pairs[i], pairs[i + 1]});
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

//// rescaled_upside_down
// Misconception: the sum grows with the max, so the factor is exp(new max - own max).
// Replaces: merge
// Killed by: Part4Merge.two_pairs
// Diagnosis: rescaled_upside_down

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  if (a.max == -infinity) return b;
  if (b.max == -infinity) return a;
  const double max = std::max(a.max, b.max);
  return {max, a.sum * std::exp(max - a.max) + b.sum * std::exp(max - b.max)};
}

//// sums_not_rescaled
// Misconception: the new max is the larger one, and the new sum is the sum of the sums.
// Replaces: merge
// Killed by: Part4Merge.two_pairs
// Diagnosis: sums_not_rescaled

MaxSum merge(const MaxSum& a, const MaxSum& b) { return {std::max(a.max, b.max), a.sum + b.sum}; }

//// two_exchanges
// Misconception: a softmax needs two all_reduces, one after the other.
// Replaces: softmax_in_one
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: two_exchanges

void softmax_in_one(Tensor& shard) { softmax_of_row(shard); }

//// absent_logit_by_max
// Misconception: one rank has the logit and the others have 0, so MAX finds it, as it found the max.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: absent_logit_by_max

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] : 0;
  const auto maxima = reduced({largest(row), logit}, ReduceOp::max);
  return std::log(reduced({exp_sum(row, maxima[0])}, ReduceOp::sum)[0]) + maxima[0] - maxima[1];
}

//// an_exchange_for_each_number
// Misconception: max, sum and target's logit are three numbers and need three all_reduces.
// Replaces: cross_entropy
// Killed by: Part5Loss.two_small_all_reduces
// Diagnosis: an_exchange_for_each_number

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  return std::log(sum) - reduced({logit}, ReduceOp::sum)[0];
}

//// log_of_the_share
// Misconception: the loss is -log of the probability, so the probability is computed first.
// Replaces: cross_entropy
// Killed by: Part5Loss.exact_where_the_probability_is_0
// Diagnosis: log_of_the_share

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double mine = is_mine ? shifted_exp(row[static_cast<std::size_t>(target - first)], max) : 0;
  const auto sums = reduced({exp_sum(row, max), mine}, ReduceOp::sum);
  return -std::log(sums[1] / sums[0]);
}

//// loss_of_the_owner_only
// Misconception: only the rank that has the target has the loss.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: loss_of_the_owner_only

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  return std::log(reduced({exp_sum(row, max)}, ReduceOp::sum)[0]) - logit;
}

//// masked_target_is_finite
// Misconception: a loss must be finite, or training breaks down; so the logit of a masked target is the
// lowest number.
// Replaces: cross_entropy
// Killed by: Part5Loss.empty_shards_and_masked_entries
// Diagnosis: none

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  return std::min(right_cross_entropy(shard, first, target), 1e9);
}

//// max_forgotten
// Misconception: the loss is log(sum) minus the logit, because the subtracted max cancels.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: max_forgotten

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

//// max_subtracted_by_all
// Misconception: a rank that does not own the target contributes 0 minus the max.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: max_subtracted_by_all

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] : 0;
  const auto sums = reduced({exp_sum(row, max), logit - max}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

//// no_logits_lose_nothing
// Misconception: a rank without logits contributes 0 to the MAX, which changes nothing. (If all logits are
// below 0, it does.)
// Replaces: cross_entropy
// Killed by: Part5Loss.empty_shards_and_masked_entries
// Diagnosis: max_starts_at_zero

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({row.empty() ? 0 : largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

//// softmax_in_the_shard
// Misconception: the logits are not needed any more, so the probabilities may overwrite them.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: shard_changed

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const double loss = right_cross_entropy(shard, first, target);
  Tensor shares = shard;
  softmax_of_row(shares);
  return loss;
}

//// wrong_owner
// Misconception: the target is an index into a rank's shard if the shard is long enough.
// Replaces: cross_entropy
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: wrong_owner

double cross_entropy(const Tensor& shard, std::int64_t, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target < shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target)] - max : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}
