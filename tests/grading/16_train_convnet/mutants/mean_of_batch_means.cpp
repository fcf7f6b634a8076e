// Misconception: the loss of an epoch is the mean over its batches.
//
// Killed by: Part2Epoch.mean_loss_over_all_samples
// Diagnosis: mean_of_batch_means
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
    losses += train_step(training.model, training.optimizer, batch);
    seen += 1;
  }
  const auto all = summed({losses, seen});
  return all[0] / all[1];
}

}  // namespace lab
