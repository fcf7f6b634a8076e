#include "dist/data/step_sampler.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::data {

namespace {

// A pseudorandom order of 0 ... n-1 in no memory: a Feistel network (Luby, Rackoff 1988) permutes the numbers
// of the next even number of bits, and those of n or more are sent through it again, until one is less.
class Permutation {
 public:
  Permutation(std::int64_t n, std::uint64_t seed) : n_(static_cast<std::uint64_t>(n)), seed_(seed) {
    while (half_bits_ < 31 && n_ > std::uint64_t{1} << 2 * half_bits_) ++half_bits_;
  }
  std::int64_t operator[](std::int64_t place) const {
    auto value = static_cast<std::uint64_t>(place);
    do value = permuted(value);
    while (value >= n_);
    return static_cast<std::int64_t>(value);
  }

 private:
  // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
  }
  std::uint64_t permuted(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_, right = value & mask;
    constexpr std::uint64_t rounds = 4;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t next = left ^ (mixed(mixed(seed_ * rounds + round) ^ right) & mask);
      left = right, right = next;
    }
    return left << half_bits_ | right;
  }

  const std::uint64_t n_, seed_;
  unsigned half_bits_ = 1;
};

}  // namespace

StepSampler::StepSampler(std::int64_t dataset_size, StepSamplerOptions options)
    : dataset_size_(dataset_size), options_(options) {
  if (dataset_size < 1 || options.batch_size < 1)
    fail(Errc::invalid_argument, "StepSampler: {} in batches of {}: at least 1 is needed of each",
         counted(dataset_size, "sample"), options.batch_size);
  if (options.rank < 0 || options.rank >= options.num_replicas)
    fail(Errc::invalid_argument,
         "StepSampler: rank is {}, but num_replicas is {}: ranks have the numbers 0 to {}", options.rank,
         options.num_replicas, options.num_replicas - 1);
}

std::vector<std::int64_t> StepSampler::indices() const {
  const std::int64_t step_size = options_.num_replicas * options_.batch_size,
                     epoch_steps = std::max<std::int64_t>(1, dataset_size_ / step_size);
  DistributedSampler all(dataset_size_, {.seed = options_.seed});
  std::vector<std::int64_t> order, mine;
  const bool is_listed = dataset_size_ <= most_listed;
  for (std::int64_t step = first_; step < last_; ++step) {
    if (is_listed && (order.empty() || step % epoch_steps == 0)) {
      all.set_epoch(step / epoch_steps);
      order = all.indices();
    }
    const std::int64_t begin = step % epoch_steps * step_size + options_.rank * options_.batch_size;
    const Permutation large(dataset_size_, options_.seed + static_cast<std::uint64_t>(step / epoch_steps));
    for (std::int64_t place = begin; place < begin + options_.batch_size; ++place)
      mine.push_back(is_listed ? order[static_cast<std::size_t>(place % dataset_size_)]
                               : large[place % dataset_size_]);
  }
  return mine;
}

}  // namespace dist::data
