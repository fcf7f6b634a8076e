// Lab 08, the solution. NOTES.md explains it.
#include "distributed_softmax.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace lab {

using dist::ReduceOp, dist::Tensor;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

// One all_reduce of these numbers, in f64.
Numbers reduced(const Numbers& mine, const ReduceOp& op) {
  Tensor t = dist::tensor(std::span<const double>(mine));
  dist::all_reduce(t, op);
  return t.to_vector<double>();
}

void store(Tensor& data, const Numbers& numbers) {
  data.copy_(dist::tensor(std::span<const double>(numbers)));
}

// exp(x - max); 0 for a masked entry, because -inf - (-inf) would be NaN.
double shifted_exp(double x, double max) { return x == -infinity ? 0 : std::exp(x - max); }

// The probability exp / sum. If the sum is 0, all entries are masked, and all probabilities are 0.
double share(double exp_of_it, double sum) { return sum == 0 ? 0 : exp_of_it / sum; }

double largest(const Numbers& row) {
  return row.empty() ? -infinity : *std::max_element(row.begin(), row.end());
}

double exp_sum(const Numbers& row, double max) {
  double sum = 0;
  for (const double x : row) sum += shifted_exp(x, max);
  return sum;
}

}  // namespace

// The weight is sent as one more element, after the data.
void weighted_mean(Tensor& data, double weight) {
  auto sums = data.to_vector<double>();
  for (double& x : sums) x *= weight;
  sums.push_back(weight);
  sums = reduced(sums, ReduceOp::sum);
  const double weights = sums.back();
  sums.pop_back();
  for (double& x : sums) x /= weights;
  store(data, sums);
}

void normalize(Tensor& data) {
  auto numbers = data.to_vector<double>();
  auto squares = numbers;
  for (double& x : squares) x *= x;
  squares = reduced(squares, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (squares[i] > 0) numbers[i] /= std::sqrt(squares[i]);
  }
  store(data, numbers);
}

void softmax_over_ranks(Tensor& data) {
  auto numbers = data.to_vector<double>();
  const auto max = reduced(numbers, ReduceOp::max);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = shifted_exp(numbers[i], max[i]);
  const auto sums = reduced(numbers, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = share(numbers[i], sums[i]);
  store(data, numbers);
}

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

// Each sum is relative to its own max; exp(own max - new max) makes it relative to the new one.
MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double max = std::max(a.max, b.max);
  if (max == -infinity) return {};
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(b.max - max)};
}

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum mine;
  for (const double x : row) mine = merge(mine, {x, 1});

  Tensor all = dist::zeros({2 * dist::get_world_size()}, dist::DType::f64);
  dist::all_gather_into_tensor(all, dist::tensor({mine.max, mine.sum}));
  const auto pairs = all.to_vector<double>();
  MaxSum total;
  for (std::size_t i = 0; i < pairs.size(); i += 2) total = merge(total, {pairs[i], pairs[i + 1]});

  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

// -log(exp(x - max) / sum) = log(sum) - (x - max).
double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

}  // namespace lab
