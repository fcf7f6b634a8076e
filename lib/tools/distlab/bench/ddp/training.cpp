#include "distlab/bench/ddp/training.h"

#include <chrono>
#include <fstream>
#include <string>

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

void append(const fs::path& path, const dist::Tensor& tensor) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(static_cast<const char*>(tensor.raw()), static_cast<std::streamsize>(tensor.nbytes()));
  if (!file.flush()) dist::fail(dist::Errc::resource, "{} cannot be written", path.string());
}

}  // namespace

Training::Training(std::int64_t batch_size)
    : batch_(batch_of_this_rank(batch_size)),
      optimizer_(model_.parameters(), {.lr = ddp_lr, .momentum = ddp_momentum}),
      optimizer_alone_(alone_.parameters(), {.lr = ddp_lr, .momentum = ddp_momentum}),
      ddp_(model_, {.first_bucket_bytes = ddp_bucket_bytes,
                    .bucket_bytes = ddp_bucket_bytes,
                    .hook = [this](const dist::GradBucket& bucket) { return start(bucket); }}) {
  model_.skip_input_grad();
  alone_.skip_input_grad();
}

std::function<void()> Training::start(const dist::GradBucket& bucket) {
  if (buckets_.size() != bucket.count) buckets_.assign(bucket.count, {});
  auto& like = buckets_[bucket.index];
  if (!like.is_defined() || like.numel() != bucket.gradients.numel()) like = zeros_like(bucket.gradients);
  return dist::all_reduce_hook(bucket);
}

double Training::step(nn::Module& module, nn::SGD& optimizer) {
  const double loss = loss_.forward(module.forward(batch_.inputs), batch_.targets);
  optimizer.zero_grad();
  module.backward(loss_.backward());
  optimizer.step();
  return loss;
}

void Training::train(int steps) {
  exposed_ = 0;
  for (int i = 0; i < steps; ++i) {
    last_loss_ = step(ddp_, optimizer_);
    exposed_ += std::chrono::duration<double>(ddp_.exposed()).count() / steps;
  }
}

void Training::compute(int steps) {
  for (int i = 0; i < steps; ++i) step(alone_, optimizer_alone_);
}

void Training::communicate(int steps) {
  for (int i = 0; i < steps; ++i) {
    std::vector<dist::Work> under_way;
    for (dist::Tensor& bucket : buckets_)
      under_way.push_back(dist::all_reduce(bucket, dist::ReduceOp::avg, {.async_op = true}));
    for (dist::Work& work : under_way) work.wait();
  }
}

void Training::save(const fs::path& folder) {
  const std::string rank = std::to_string(dist::get_rank());
  append(folder / ("inputs." + rank), batch_.inputs);
  append(folder / ("targets." + rank), batch_.targets);
  if (dist::get_rank() != 0) return;
  for (const nn::Parameter* const parameter : model_.parameters())
    append(folder / "weights", parameter->value);
}

}  // namespace distlab::bench
