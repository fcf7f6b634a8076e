// Lab 16, the solution. NOTES.md explains it.
#include "train_convnet.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lab {

using dist::Tensor;
namespace data = dist::data;
namespace nn = dist::nn;

namespace {

constexpr auto epochs_done_name = "epochs_done";

// Sums each of the values over all ranks.
std::vector<double> summed(std::initializer_list<double> values) {
  Tensor all = dist::tensor(values).to(dist::get_device());
  dist::all_reduce(all);
  return all.to_vector<double>();
}

// The number of rows of logits whose maximum is at the target.
std::int64_t count_right(const Tensor& logits, const Tensor& targets) {
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < targets.size(0); ++i) {
    const auto row = logits[i].to_vector<float>();
    right += std::ranges::max_element(row) - row.begin() == targets[i].item<std::int64_t>();
  }
  return right;
}

}  // namespace

double train_step(nn::Module& model, nn::Optimizer& optimizer, const data::Batch& batch) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(batch.inputs.to(dist::get_device())), batch.targets);
  optimizer.zero_grad();
  model.backward(loss.backward());
  optimizer.step();
  return value;
}

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
  const auto all = summed({losses, seen});
  return all[0] / all[1];
}

double evaluate(nn::Module& model, const data::Dataset& samples) {
  dist::broadcast_state(model, dist::default_group());
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

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() != 0) return;
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  for (const auto& one : nn::with_prefix("optimizer.", optimizer.state_dict())) all.push_back(one);
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  optimizer.load_state_dict(nn::part(all, "optimizer."));
  return nn::find(all, epochs_done_name)->item<int>();
}

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
    if (!plan.checkpoint.empty()) save_checkpoint(plan.checkpoint, model, optimizer, epoch + 1);
  }
  return results;
}

}  // namespace lab
