#include "dist/data/sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dist/core/fail.h"
#include "dist/data/randperm.h"

namespace dist::data {
namespace {

std::vector<std::int64_t> count_to(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void check_size(std::int64_t dataset_size) {
  if (dataset_size < 0)
    fail(Errc::invalid_argument, "a dataset of {} samples: at least 0 are needed", dataset_size);
}

}  // namespace

SequentialSampler::SequentialSampler(std::int64_t dataset_size) : size_(dataset_size) { check_size(size_); }

std::vector<std::int64_t> SequentialSampler::indices() const { return count_to(size_); }

ShardSampler::ShardSampler(std::int64_t dataset_size, Shard shard)
    : dataset_size_(dataset_size), shard_(shard) {
  check_size(dataset_size);
  shard.check();
}

std::int64_t ShardSampler::size() const {
  return std::max<std::int64_t>(0, (dataset_size_ - shard_.index + shard_.count - 1) / shard_.count);
}

std::vector<std::int64_t> ShardSampler::indices() const {
  std::vector<std::int64_t> mine(static_cast<std::size_t>(size()));
  std::int64_t next = shard_.index;
  for (auto& index : mine) index = std::exchange(next, next + shard_.count);
  return mine;
}

DistributedSampler::DistributedSampler(std::int64_t dataset_size, DistributedSamplerOptions options)
    : dataset_size_(dataset_size), options_(options) {
  check_size(dataset_size);
  if (options.num_replicas < 1)
    fail(Errc::invalid_argument, "DistributedSampler: num_replicas is {}, at least 1 is needed",
         options.num_replicas);
  if (options.rank < 0 || options.rank >= options.num_replicas)
    fail(Errc::invalid_argument,
         "DistributedSampler: rank is {}, but num_replicas is {}: ranks have the numbers 0 to {}",
         options.rank, options.num_replicas, options.num_replicas - 1);
}

std::int64_t DistributedSampler::size() const {
  const std::int64_t n = options_.num_replicas, whole = dataset_size_ / n;
  return options_.drop_last || dataset_size_ % n == 0 ? whole : whole + 1;
}

std::vector<std::int64_t> DistributedSampler::order() const {
  if (!options_.shuffle) return count_to(dataset_size_);
  return randperm(dataset_size_, options_.seed + static_cast<std::uint64_t>(epoch_));
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  const auto all = order();
  const auto n = static_cast<std::size_t>(options_.num_replicas);
  std::vector<std::int64_t> mine(static_cast<std::size_t>(size()));
  std::size_t place = static_cast<std::size_t>(options_.rank);
  for (auto& index : mine) {
    index = all[place % all.size()];  // past the end: from the beginning again, several times if need be
    place += n;
  }
  return mine;
}

}  // namespace dist::data
