// Misconception: a sampler that shuffles gives a new order in every epoch by itself.
//
// Killed by: Part2Epoch.an_order_for_each_epoch
// Diagnosis: set_epoch_forgotten
#include "mutant.h"
#define train_epoch right_train_epoch
#include DIST_SOLUTION
#undef train_epoch

namespace lab {

double train_epoch(const Training& training, const data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  (void)epoch;
  training.model.train();
  double losses = 0, seen = 0;
  for (const auto& batch :
       data::DataLoader(samples, training.sampler, {.batch_size = batch_size, .workers = 1})) {
    const auto count = static_cast<double>(batch.size());
    losses += count * train_step(training.model, training.optimizer, batch);
    seen += count;
  }
  const auto all = summed({losses, seen});
  return all[0] / all[1];
}

}  // namespace lab
