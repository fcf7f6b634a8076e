// Misconception: the training sampler also deals out the test samples. It pads.
//
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: counts_padding_twice
#include "mutant.h"
#define evaluate right_evaluate
#include DIST_SOLUTION
#undef evaluate

namespace lab {

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::DistributedSampler share(
      samples.size(), {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .shuffle = false});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

}  // namespace lab
