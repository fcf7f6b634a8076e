// Misconception: rank 0 reads the checkpoint, and DDP sends it to all ranks. DDP does not send the
// optimizer's state.
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: only_rank_0_resumes
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
  if (dist::get_rank() == 0 && plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  auto epoch_of_all = dist::tensor({first}).to(dist::get_device());
  dist::broadcast(epoch_of_all, 0);
  first = epoch_of_all.item<int>();
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
