#include "distlab/bench/ddp/training.h"

#include <chrono>
#include <fstream>
#include <string>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/data/data_loader.h"
#include "dist/data/digits.h"

#include "distlab/train/scheme.h"

namespace distlab::bench {
namespace {

namespace fs = std::filesystem;
namespace nn = dist::nn;

dist::data::Batch batch_of_this_rank(std::int64_t size) {
  const dist::data::Digits digits(size, static_cast<std::uint64_t>(dist::get_rank()) + 1);
  return *dist::data::DataLoader(digits, {.batch_size = size}).begin();
}

std::unique_ptr<nn::ConvNet> model_on(dist::Device device) {
  auto model = std::make_unique<nn::ConvNet>();
  model->skip_input_grad();
  if (device != dist::cpu) model->to(device);
  return model;
}

void append(const fs::path& path, const dist::Tensor& from) {
  const dist::Tensor tensor = from.to(dist::cpu);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(static_cast<const char*>(tensor.raw()), static_cast<std::streamsize>(tensor.nbytes()));
  if (!file.flush()) dist::fail(dist::Errc::resource, "{} cannot be written", path.string());
}

}  // namespace

Training::Training(std::int64_t batch_size, dist::Device device, bool is_one_graph)
    : device_(device),
      batch_(batch_of_this_rank(batch_size)),
      model_(model_on(device)),
      alone_(model_on(device)),
      optimizer_(model_->parameters(), {.lr = ddp_lr, .momentum = ddp_momentum}),
      optimizer_alone_(alone_->parameters(), {.lr = ddp_lr, .momentum = ddp_momentum}),
      ddp_(*model_, {.first_bucket_bytes = ddp_bucket_bytes,
                     .bucket_bytes = ddp_bucket_bytes,
                     .hook = [this](const dist::GradBucket& bucket) { return start(bucket); }}),
      step_(device, step_of(ddp_, optimizer_), {.has_collectives = is_one_graph}),
      step_alone_(device, step_of(*alone_, optimizer_alone_)) {
  batch_.inputs = batch_.inputs.to(device);
  batch_.targets = batch_.targets.to(device);
}

std::function<void()> Training::start(const dist::GradBucket& bucket) {
  if (buckets_.size() != bucket.count) buckets_.assign(bucket.count, {});
  auto& like = buckets_[bucket.index];
  if (!like.is_defined() || like.numel() != bucket.gradients.numel()) like = zeros_like(bucket.gradients);
  return dist::all_reduce_hook(bucket);
}

nn::GraphedStep::Step Training::step_of(nn::Module& module, nn::SGD& optimizer) {
  return [&](const dist::Tensor& inputs, const dist::Tensor& targets) {
    const auto loss = loss_.forward(module.forward(inputs), targets);
    optimizer.zero_grad();
    module.backward(loss_.backward());
    optimizer.step();
    return loss;
  };
}

void Training::wait() const {
  if (device_ != dist::cpu)
    dist::device_api(device_.type).synchronize(device_, dist::current_stream(device_));
}

// As PyTorch's side, the host reads only the last loss on a GPU.
void Training::train(int steps) {
  exposed_ = 0;
  for (int i = 0; i < steps; ++i) {
    const auto loss = step_(batch_.inputs, batch_.targets);
    exposed_ += std::chrono::duration<double>(ddp_.exposed()).count() / steps;
    if (device_ == dist::cpu || i + 1 == steps) last_loss_ = loss;
  }
}

void Training::compute(int steps) {
  for (int i = 0; i < steps; ++i) step_alone_(batch_.inputs, batch_.targets);
  wait();
}

void Training::graphs(int steps) {
  for (int i = 0; i < steps; ++i) step_.launch_graphs_alone();
  wait();
}

void Training::communicate(int steps) {
  for (int i = 0; i < steps; ++i) {
    std::vector<dist::Work> under_way;
    for (dist::Tensor& bucket : buckets_)
      under_way.push_back(dist::all_reduce(bucket, dist::ReduceOp::avg, {.async_op = true}));
    for (dist::Work& work : under_way) work.wait();
  }
  wait();
}

void Training::save(const fs::path& folder) {
  const std::string rank = std::to_string(dist::get_rank());
  append(folder / ("inputs." + rank), batch_.inputs);
  append(folder / ("targets." + rank), batch_.targets);
  if (dist::get_rank() != 0) return;
  for (const nn::Parameter* const parameter : model_->parameters())
    append(folder / "weights", parameter->value);
}

}  // namespace distlab::bench
