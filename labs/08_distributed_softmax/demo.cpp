// Lab 08, the demonstration: means, norms and softmaxes over ranks, a row that is spread over four ranks, and
// what it costs.
//   ./distlab run 8
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "distributed_softmax.h"
#include "story.h"

namespace {

using dist::Tensor;
using story::say, story::say_in_turn;

using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int ranks = 4;

std::string text(const Numbers& numbers) {
  std::vector<std::string> shown;
  for (const double x : numbers)
    shown.push_back(std::isnan(x) ? "NaN" : fmt::format("{:.{}g}", x, std::abs(x) < 1 ? 4 : 6));
  return fmt::format("[{}]", fmt::join(shown, ", "));
}
std::string text(const Tensor& t) { return text(t.to_vector<double>()); }

Tensor tensor_of(const Numbers& numbers) { return dist::tensor(std::span<const double>(numbers)); }

// Rank r has r + 1, r + 2, r + 3; its weight is r + 1.
void over_the_ranks(int rank) {
  dist::init_process_group();
  const Tensor own = dist::tensor({1. + rank, 2. + rank, 3. + rank});
  Tensor mean = own.clone(), direction = own.clone(), shares = own.clone();
  lab::weighted_mean(mean, 1 + rank);
  lab::normalize(direction);
  lab::softmax_over_ranks(shares);
  say_in_turn(fmt::format("{:<10} mean {}\n            normalized {:<27} softmax {}", text(own), text(mean),
                          text(direction), text(shares)));
  dist::destroy_process_group();
}

// One row in shards of 3, 0, 2 and 4 entries. The entries are around 10000, which makes exp(x) infinite.
Numbers shard_of(int rank) {
  static const std::vector<Numbers> shards{
      {10001, 10003, 9999}, {}, {10004, -infinity}, {10000, 10002, 9990, 9000}};
  return shards[static_cast<std::size_t>(rank)];
}

void one_row(int rank) {
  dist::init_process_group();
  Tensor shard = tensor_of(shard_of(rank));
  const auto logits = text(shard);
  lab::softmax_of_row(shard);
  Tensor all = dist::tensor({dist::sum(shard)});
  dist::all_reduce(all);
  say_in_turn(fmt::format("{:<26} probabilities {}", logits, text(shard)));
  if (rank == 0) say(fmt::format("   sum of all probabilities: {:.6f}", all.item<double>()));
  dist::destroy_process_group();
}

// Two wrong computations for the same row: what a rank subtracts, and by which sum it divides.
void wrong_ways() {
  Numbers row, of_rank_0 = shard_of(0);
  double of_own_maxima = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto shard = shard_of(rank);
    const double max = shard.empty() ? 0 : dist::max(tensor_of(shard));
    for (const double x : shard) of_own_maxima += std::exp(x - max);
    row.insert(row.end(), shard.begin(), shard.end());
  }
  double plain = 0;
  for (const double x : row) plain += std::exp(x);
  const auto shares = [&](double subtracted, double sum) {
    Numbers result;
    for (const double x : of_rank_0) result.push_back(std::exp(x - subtracted) / sum);
    return text(result);
  };
  say(fmt::format("   nothing subtracted:           {}", shares(0, plain)));
  say(fmt::format("   own max subtracted:           {}", shares(10003, of_own_maxima)));
}

void pairs() {
  lab::MaxSum total;
  for (int rank = 0; rank < ranks; ++rank) {
    lab::MaxSum own;
    for (const double x : shard_of(rank)) own = lab::merge(own, {x, 1});
    total = lab::merge(total, own);
    say(fmt::format("   rank {}: ({}, {:.4f})   merged so far: ({}, {:.4f})", rank, own.max, own.sum,
                    total.max, total.sum));
  }
}

void loss(int rank) {
  dist::init_process_group();
  const Numbers shard = shard_of(rank);
  std::int64_t first = 0;
  for (int before = 0; before < rank; ++before) first += std::ssize(shard_of(before));
  Numbers losses;
  for (const std::int64_t target : {3, 0, 8})
    losses.push_back(lab::cross_entropy(tensor_of(shard), first, target));
  say_in_turn(fmt::format("loss if the target is element 3: {:.4f}, element 0: {:.4f}, element 8: {:.4f}",
                          losses[0], losses[1], losses[2]));
  dist::destroy_process_group();
}

// A row of 128 Ki logits on `size` GPUs, in three ways, one of them with two algorithms.
void compare_costs(int size) {
  const std::int64_t each = 128 * 1024 / size;
  const auto row = [&](const char* name, const std::function<void()>& program) {
    const auto report = story::simulate(size, "dgx-h100-ndr", program);
    say(fmt::format("   {:>4}    {:<42} {:>10} {:>8.1f} us", size, name,
                    story::in_bytes(story::bytes_sent(report)), report.virtual_time_s * 1e6));
  };
  row("all_gather of the logits", [&] {
    Tensor all = dist::zeros({size * each});
    dist::all_gather_into_tensor(all, dist::zeros({each}));
  });
  row("two all_reduces (softmax_of_row)", [&] {
    Tensor shard = dist::zeros({each});
    lab::softmax_of_row(shard);
  });
  const auto in_one = [&] {
    Tensor shard = dist::zeros({each});
    lab::softmax_in_one(shard);
  };
  row("one all_gather of pairs (softmax_in_one)", in_one);
  setenv("DIST_ALGO", "all_gather:ring", 1);
  row("the same, around a ring", in_one);
  unsetenv("DIST_ALGO");
}

void tell() {
  say("1  Over the ranks: element i is computed from the elements i of four processes");
  dist::spawn(ranks, over_the_ranks);
  say("\n2  One row on four processes; one shard is empty, one entry is masked");
  dist::spawn(ranks, one_row);
  say("\n3  Rank 0's probabilities for the same row, computed in two wrong ways");
  wrong_ways();
  say("\n4  What each rank contributes: (max, sum of exp(x - max))");
  pairs();
  say("\n5  A row of 128 Ki logits (f32), on 4 GPUs of one DGX H100 and on 32 GPUs of four: virtual time");
  say("   GPUs                                             all ranks send      time");
  for (const int size : {4, 32}) compare_costs(size);
  say("\n6  The loss of the row, on four processes");
  dist::spawn(ranks, loss);
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
