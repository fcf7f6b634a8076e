// Misconception: a run that is resumed has a checkpoint.
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: resumes_without_a_file
#include "mutant.h"
#define train_model right_train_model
#include DIST_SOLUTION
#undef train_model

namespace lab {

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume) first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

}  // namespace lab
