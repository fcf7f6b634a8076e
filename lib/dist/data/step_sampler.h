// StepSampler: for training that counts steps, not epochs, as language models are trained.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/data/sampler.h"

namespace dist::data {

struct StepSamplerOptions {
  std::int64_t batch_size = 1;  // of a rank
  int num_replicas = 1;         // ranks
  int rank = 0;
  std::uint64_t seed = 0;
};

// Step s is a function of s and the options alone, so training can continue at any step. An epoch of steps
// goes through the order of a DistributedSampler for one rank; each step takes the next
// num_replicas * batch_size samples of it, and each rank a run of batch_size among these. So n ranks with
// batches of b see in each step what one rank with batches of n * b sees. The rest at the end of an
// epoch is omitted; if the dataset is smaller than a step, samples occur several times. The order of more
// than `most_listed` samples is another one, which takes no memory.
class StepSampler : public Sampler {
 public:
  static constexpr std::int64_t most_listed = std::int64_t{1} << 24;  // 128 MiB

  // Throws Error{invalid_argument} for sizes below 1 and a rank out of range.
  StepSampler(std::int64_t dataset_size, StepSamplerOptions options);

  // The steps that indices() has next, counted from 0: `first` to `last` - 1.
  void set_steps(std::int64_t first, std::int64_t last) { first_ = first, last_ = last; }

  std::vector<std::int64_t> indices() const override;
  std::int64_t size() const override { return (last_ - first_) * options_.batch_size; }

 private:
  std::int64_t dataset_size_;
  StepSamplerOptions options_;
  std::int64_t first_ = 0, last_ = 0;
};

}  // namespace dist::data
