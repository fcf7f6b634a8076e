#include "dist/data/step_sampler.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::data {

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
  for (std::int64_t step = first_; step < last_; ++step) {
    if (order.empty() || step % epoch_steps == 0) {
      all.set_epoch(step / epoch_steps);
      order = all.indices();
    }
    const std::int64_t begin = step % epoch_steps * step_size + options_.rank * options_.batch_size;
    for (std::int64_t place = begin; place < begin + options_.batch_size; ++place)
      mine.push_back(order[static_cast<std::size_t>(place % dataset_size_)]);
  }
  return mine;
}

}  // namespace dist::data
