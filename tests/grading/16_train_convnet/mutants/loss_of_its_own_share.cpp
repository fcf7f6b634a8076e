// Misconception: a rank knows the loss, because it has just computed it.
//
// Killed by: Part2Epoch.mean_loss_over_all_samples
// Diagnosis: loss_of_one_rank
#include "mutant.h"
#define train_epoch right_train_epoch
#include DIST_SOLUTION
#undef train_epoch

namespace lab {

double train_epoch(const Training& training, const data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  training.model.train();
  training.sampler.set_epoch(epoch);
  double losses = 0, seen = 0;
  for (const auto& batch :
       data::DataLoader(samples, training.sampler, {.batch_size = batch_size, .workers = 1})) {
    const auto count = static_cast<double>(batch.size());
    losses += count * train_step(training.model, training.optimizer, batch);
    seen += count;
  }
  return losses / seen;
}

}  // namespace lab
