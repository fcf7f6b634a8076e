// Wrong answers to lab 16, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "train_convnet.h"

//// returns_the_loss_afterwards
// Misconception: the loss of a step is that of the new weights.
// Replaces: train_step
// Killed by: Part1Step.its_loss
// Diagnosis: none

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  right_train_step(model, optimizer, batch);
  nn::CrossEntropyLoss loss;
  return loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
}

//// samples_stay_on_the_cpu
// Misconception: the loader gives batches where they are needed.
// Replaces: train_step
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: not_on_the_device

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs), batch.targets);
  optimizer.zero_grad();
  model.backward(loss.backward());
  optimizer.step();
  return value;
}

//// zero_grad_before_the_step
// Misconception: gradients are cleared once backward has computed them. But the optimizer still has to use
// them.
// Replaces: train_step
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: zeroes_before_the_step

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
  model.backward(loss.backward());
  optimizer.zero_grad();
  optimizer.step();
  return value;
}

//// zero_grad_forgotten
// Misconception: backward overwrites the gradients. It adds to what is there.
// Replaces: train_step
// Killed by: Part1Step.gradients_of_this_batch_alone
// Diagnosis: adds_to_old_gradients

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
  model.backward(loss.backward());
  optimizer.step();
  return value;
}

//// drops_the_last_batch
// Misconception: all batches have one size, and the samples that are left over are left out.
// Replaces: train_epoch
// Killed by: Part2Epoch.an_order_for_each_epoch
// Diagnosis: drops_the_last_batch

double train_epoch(const Training& training, const data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  training.model.train();
  training.sampler.set_epoch(epoch);
  double losses = 0, seen = 0;
  for (const auto& batch : data::DataLoader(samples, training.sampler,
                                            {.batch_size = batch_size, .drop_last = true, .workers = 1})) {
    const auto count = static_cast<double>(batch.size());
    losses += count * train_step(training.model, training.optimizer, batch);
    seen += count;
  }
  const auto all = summed({losses, seen});
  return all[0] / all[1];
}

//// loss_of_its_own_share
// Misconception: a rank knows the loss, because it has just computed it.
// Replaces: train_epoch
// Killed by: Part2Epoch.mean_loss_over_all_samples
// Diagnosis: loss_of_one_rank

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

//// mean_of_batch_means
// Misconception: the loss of an epoch is the mean over its batches.
// Replaces: train_epoch
// Killed by: Part2Epoch.mean_loss_over_all_samples
// Diagnosis: mean_of_batch_means

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

//// set_epoch_forgotten
// Misconception: a sampler that shuffles gives a new order in every epoch by itself.
// Replaces: train_epoch
// Killed by: Part2Epoch.an_order_for_each_epoch
// Diagnosis: set_epoch_forgotten

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

//// stays_in_evaluation_mode
// Misconception: a model is in training mode. After the first evaluation it is not.
// Replaces: train_epoch
// Killed by: Part2Epoch.in_training_mode
// Diagnosis: trains_in_evaluation_mode

double train_epoch(const Training& training, const data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  training.sampler.set_epoch(epoch);
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

//// accuracy_of_its_own_share
// Misconception: a rank computes the accuracy on its own samples and returns it.
// Replaces: evaluate
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: accuracy_of_its_own_share

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  return static_cast<double>(right) / static_cast<double>(seen);
}

//// counts_padding_twice
// Misconception: the training sampler also deals out the test samples. It pads.
// Replaces: evaluate
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: counts_padding_twice

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

//// evaluates_in_training_mode
// Misconception: without gradients there is no training, so the mode makes no difference. Batch norm behaves
// differently in the two modes.
// Replaces: evaluate
// Killed by: Part3Evaluate.the_model_of_rank_0_in_evaluation_mode
// Diagnosis: evaluates_in_training_mode

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

//// evaluates_on_the_cpu
// Misconception: an evaluation needs no GPU.
// Replaces: evaluate
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: not_on_the_device

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs), targets);
    seen += targets.size(0);
  }
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

//// every_rank_judges_its_own_model
// Misconception: after an epoch of DDP all ranks have the same model. They do not have the same running
// statistics.
// Replaces: evaluate
// Killed by: Part3Evaluate.the_model_of_rank_0_in_evaluation_mode
// Diagnosis: every_rank_judges_its_own_model

double evaluate(nn::Module& model, const data::Dataset& samples) {
  model.eval();
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

//// every_rank_looks_at_all
// Misconception: to be sure of the accuracy, each rank evaluates all test samples.
// Replaces: evaluate
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: every_rank_looks_at_all

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::SequentialSampler share(samples.size());
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

//// leaves_without_samples
// Misconception: a rank without samples has nothing to contribute and returns at once.
// Replaces: evaluate
// Killed by: Part3Evaluate.a_rank_without_samples
// Diagnosis: leaves_the_others_waiting

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
  model.eval();
  const data::ShardSampler share(samples.size(), {dist::get_rank(), dist::get_world_size()});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(samples, share, {.batch_size = 100, .workers = 1})) {
    right += count_right(model.forward(inputs.to(dist::get_device())), targets);
    seen += targets.size(0);
  }
  if (seen == 0) return 0;
  const auto all = summed({static_cast<double>(right), static_cast<double>(seen)});
  return all[0] / all[1];
}

//// mean_of_means
// Misconception: every rank has an accuracy, and the overall accuracy is the mean of these.
// Replaces: evaluate
// Killed by: Part3Evaluate.every_sample_once
// Diagnosis: mean_of_means

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

//// epoch_lost
// Misconception: weights and optimizer are restored, so the run can continue. The number of the epoch is
// missing.
// Replaces: load_checkpoint
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: epoch_lost

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  optimizer.load_state_dict(nn::part(all, "optimizer."));
  return 0;
}

//// every_rank_writes
// Misconception: every rank saves its state, to be safe.
// Replaces: save_checkpoint
// Killed by: Part4Checkpoint.rank_0_writes
// Diagnosis: every_rank_writes

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  for (const auto& one : nn::with_prefix("optimizer.", optimizer.state_dict())) all.push_back(one);
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

//// local_rank_0_writes
// Misconception: local rank 0 is rank 0. (There is one on every node.)
// Replaces: save_checkpoint
// Killed by: Part4Checkpoint.rank_0_writes
// Diagnosis: every_rank_writes

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_local_rank() != 0) return;
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  for (const auto& one : nn::with_prefix("optimizer.", optimizer.state_dict())) all.push_back(one);
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

//// momentum_lost
// Misconception: everything that was learned is in the weights, so the file needs nothing else.
// Replaces: save_checkpoint, load_checkpoint
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: momentum_lost

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  (void)optimizer;
  if (dist::get_rank() != 0) return;
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer&) {
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  return nn::find(all, epochs_done_name)->item<int>();
}

//// momentum_not_loaded
// Misconception: everything that was learned is in the weights, so a new optimizer will do.
// Replaces: load_checkpoint
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: momentum_not_loaded

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  (void)optimizer;
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  return nn::find(all, epochs_done_name)->item<int>();
}

//// running_statistics_lost
// Misconception: a model consists of its parameters. Its buffers are part of it, too.
// Replaces: load_checkpoint
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: running_statistics_lost

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  const auto all = nn::load_safetensors(file);
  for (auto& [name, parameter] : model.named_parameters())
    parameter->value.copy_(*nn::find(all, "model." + name));
  optimizer.load_state_dict(nn::part(all, "optimizer."));
  return nn::find(all, epochs_done_name)->item<int>();
}

//// a_sampler_seed_for_each_rank
// Misconception: ranks need random numbers of their own, and so does the sampler.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: sampler_seed_of_each_rank

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(train_samples.size(),
                                   {.num_replicas = dist::get_world_size(),
                                    .rank = dist::get_rank(),
                                    .seed = plan.seed + static_cast<std::uint64_t>(dist::get_rank())});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// an_epoch_done_twice
// Misconception: the number of the last epoch is the number of completed epochs.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: epochs_done_off_by_one

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch);
  }
  return results;
}

//// an_optimizer_after_the_resume
// Misconception: the optimizer is created when the model is ready, that is, after the checkpoint was loaded.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: momentum_lost

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint)) {
    nn::SGD before(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
    first = load_checkpoint(plan.checkpoint, model, before);
  }
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

//// begins_at_epoch_0
// Misconception: after the weights are loaded, all epochs of the plan are run.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: resume_repeats_epochs

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    (void)load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = 0; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// copies_over_the_old_one
// Misconception: a file that is written elsewhere and copied when it is complete is never incomplete. (The
// copy is, for a while.)
// Replaces: save_checkpoint
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: overwrites_the_old_checkpoint

#include <fstream>
#include SOLUTION

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() != 0) return;
  std::filesystem::path beside = file;
  beside += ".new";
  right_save_checkpoint(beside, model, optimizer, epochs_done);
  std::ofstream(file, std::ios::binary) << std::ifstream(beside, std::ios::binary).rdbuf();
  std::filesystem::remove(beside);
}

//// counts_epochs_from_0
// Misconception: a resumed run counts its own epochs from 0. Their order is then that of epochs 0, 1, ...
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: resume_counts_epochs_from_0

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch - first);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// divides_the_batch
// Misconception: the batch of the plan is that of all ranks together.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: batch_divided

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.batch_size = std::max<std::int64_t>(1, plan.batch_size / dist::get_world_size());
  return right_train_model(model, train_samples, test_samples, other);
}

//// drops_the_rest
// Misconception: samples that do not divide by the number of ranks are left out.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: drops_the_rest

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(train_samples.size(), {.num_replicas = dist::get_world_size(),
                                                          .rank = dist::get_rank(),
                                                          .seed = plan.seed,
                                                          .drop_last = true});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// forgets_same_buckets
// Misconception: the default options of DistributedDataParallel are enough. (It fills its buckets anew after
// its first step, and a resumed run has a first step, too: in that step it adds in a different order from a
// run that was never interrupted.)
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: adds_in_another_order

#define same_buckets \
  dist::DdpOptions {}
#include SOLUTION

//// local_rank_for_the_sampler
// Misconception: the sampler asks for the rank among the processes of this node.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: local_rank_for_the_sampler

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_local_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// moves_it_and_takes_it_back
// Misconception: the model is on the CPU before, so it is on the CPU afterwards.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: not_on_the_device

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  auto results = right_train_model(model, train_samples, test_samples, plan);
  model.to(dist::cpu);
  return results;
}

//// moves_the_old_one_away
// Misconception: the old checkpoint is safe under another name while the new one is written. (A run that
// resumes does not look there.)
// Replaces: save_checkpoint
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: a_moment_without_a_checkpoint

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() != 0) return;
  std::filesystem::path beside = file;
  beside += ".old";
  const bool has_old = std::filesystem::exists(file);
  if (has_old) std::filesystem::rename(file, beside);
  right_save_checkpoint(file, model, optimizer, epochs_done);
  if (has_old) std::filesystem::remove(beside);
}

//// no_checkpoint_of_the_last_epoch
// Misconception: after the last epoch nothing is left to be resumed, so its checkpoint is of no use.
// Replaces: train_model
// Killed by: Part5Train.a_checkpoint_after_each_epoch
// Diagnosis: no_checkpoint_of_the_last_epoch

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty() && epoch + 1 < plan.epochs)
      save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// no_momentum
// Misconception: an optimizer needs a learning rate, and the rest has good defaults.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: momentum_missing

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.momentum = 0;
  return right_train_model(model, train_samples, test_samples, other);
}

//// no_seed
// Misconception: the sampler shuffles by itself, so it needs no seed.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: seed_forgotten

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.seed = 0;
  return right_train_model(model, train_samples, test_samples, other);
}

//// nothing_to_do
// Misconception: where no epoch is left there is nothing to do. (The ranks' models differ before the first
// one.)
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: nothing_to_do

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  if (first >= plan.epochs) return {};
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

//// rank_0_reads_the_file
// Misconception: rank 0 reads the checkpoint, and DDP sends it to all ranks. DDP does not send the
// optimizer's state.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: only_rank_0_resumes

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

//// removes_before_it_saves
// Misconception: an old checkpoint is in the way of the new one.
// Replaces: save_checkpoint
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: a_moment_without_a_checkpoint

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() == 0) std::filesystem::remove(file);
  right_save_checkpoint(file, model, optimizer, epochs_done);
}

//// results_of_all_epochs
// Misconception: the list has one result per epoch of the plan, so that its index is the number of the
// epoch.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: results_of_epochs_not_run

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  auto results = right_train_model(model, train_samples, test_samples, plan);
  while (std::ssize(results) < plan.epochs) results.insert(results.begin(), EpochResult{});
  return results;
}

//// resumes_unasked
// Misconception: if a checkpoint exists, the run continues from it. It may belong to another run.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: resumes_unasked

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (std::filesystem::exists(plan.checkpoint)) first = load_checkpoint(plan.checkpoint, model, optimizer);
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

//// resumes_without_a_file
// Misconception: a run that is resumed has a checkpoint.
// Replaces: train_model
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: resumes_without_a_file

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

//// scales_the_learning_rate
// Misconception: n ranks have a batch n times as large, so the learning rate must be n times as large. (Some
// recipes do so; this plan says what the rate is.)
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: lr_scaled

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  Plan other = plan;
  other.lr *= dist::get_world_size();
  return right_train_model(model, train_samples, test_samples, other);
}

//// the_model_without_ddp
// Misconception: the ranks train together because they are in one group. Without DDP nothing averages their
// gradients.
// Replaces: train_model
// Killed by: Part5Train.as_one_process_does
// Diagnosis: trains_alone

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::broadcast_state(model, dist::default_group());
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({model, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

//// the_number_of_its_epoch
// Misconception: a checkpoint has the number of its epoch.
// Replaces: train_model
// Killed by: Part5Train.a_checkpoint_after_each_epoch
// Diagnosis: epochs_done_off_by_one

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch);
  }
  return results;
}

//// writes_at_the_end_only
// Misconception: a checkpoint is written at the end of a run.
// Replaces: train_model
// Killed by: Part5Train.a_checkpoint_after_each_epoch
// Diagnosis: writes_at_the_end_only

std::vector<EpochResult> train_model(nn::Module& model, const data::Dataset& train_samples,
                                     const data::Dataset& test_samples, const Plan& plan) {
  model.to(dist::get_device());
  nn::SGD optimizer(model.parameters(), {.lr = plan.lr, .momentum = plan.momentum});
  int first = 0;
  if (plan.resume && std::filesystem::exists(plan.checkpoint))
    first = load_checkpoint(plan.checkpoint, model, optimizer);
  dist::DistributedDataParallel ddp(model, same_buckets);
  data::DistributedSampler sampler(
      train_samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = plan.seed});
  std::vector<EpochResult> results;
  for (int epoch = first; epoch < plan.epochs; ++epoch) {
    const double loss = train_epoch({ddp, optimizer, sampler}, train_samples, plan.batch_size, epoch);
    results.push_back({loss, evaluate(model, test_samples)});
  }
  if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, plan.epochs);
  return results;
}
