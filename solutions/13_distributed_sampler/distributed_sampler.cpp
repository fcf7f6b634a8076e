// Lab 13, the solution. NOTES.md explains it.
#include "distributed_sampler.h"

#include <numeric>
#include <random>
#include <utility>

#include "dist/dist.h"

namespace lab {

namespace {

std::vector<std::int64_t> in_order(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

// The Fisher-Yates shuffle, with the draws of torch.randperm.
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + generator() % (order.size() - i)]);
  return order;
}

std::int64_t DistributedSampler::size() const {
  const std::int64_t n = options_.num_replicas;
  return (options_.dataset_size + (options_.drop_last ? 0 : n - 1)) / n;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  const std::int64_t samples = options_.dataset_size, n = options_.num_replicas, end = size() * n;
  const auto order = options_.shuffle ? randperm(samples, options_.seed + static_cast<std::uint64_t>(epoch_))
                                      : in_order(samples);
  std::vector<std::int64_t> mine;
  for (std::int64_t place = options_.rank; place < end; place += n)
    mine.push_back(order[static_cast<std::size_t>(place % samples)]);  // beyond the end: from the beginning
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

std::optional<std::int64_t> ShardedStream::next() {
  for (;;) {
    std::optional<std::int64_t> mine;
    for (int rank = 0; rank < reader_.ranks; ++rank) {
      const auto sample = stream_.next();
      if (!sample) return std::nullopt;  // no complete round is left
      if (rank == reader_.rank) mine = sample;
    }
    if (rounds_++ % reader_.workers == reader_.worker) return mine;
  }
}

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const auto batch = next();
    auto all_have_one = dist::full({1}, batch ? 1 : 0, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) return steps;
    step(*batch);
  }
}

}  // namespace lab
