// Misconception: without gradients there is no training, so the mode makes no difference. Batch norm behaves
// differently in the two modes.
//
// Killed by: Part3Evaluate.the_model_of_rank_0_in_evaluation_mode
// Diagnosis: evaluates_in_training_mode
#include "mutant.h"
#define evaluate right_evaluate
#include DIST_SOLUTION
#undef evaluate

namespace lab {

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

}  // namespace lab
