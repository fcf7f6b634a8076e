// Misconception: every rank has an accuracy, and the overall accuracy is the mean of these.
//
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: mean_of_means
#include "mutant.h"
#define evaluate right_evaluate
#include DIST_SOLUTION
#undef evaluate

namespace lab {

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  return summed({static_cast<double>(right) / static_cast<double>(seen)})[0] / dist::get_world_size();
}

}  // namespace lab
