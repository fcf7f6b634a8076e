// The step that is measured: a ConvNet learns one batch of digits, again and again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "dist/data/dataset.h"
#include "dist/dist.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

namespace distlab::bench {

inline constexpr double ddp_lr = 0.02, ddp_momentum = 0.9;

// One rank's. Every rank of the default group calls the same.
class Training {
 public:
  explicit Training(std::int64_t batch_size);  // of each rank

  // So many steps: as ./distlab train takes them; of a model of this rank alone; and the all-reduces of a
  // step's buckets, with nothing to hide behind.
  void train(int steps);
  void compute(int steps);
  void communicate(int steps);

  // Of the last train(): seconds a step that this rank waited for gradients of others; its last loss.
  double exposed() const { return exposed_; }
  double loss() const { return last_loss_; }

  // For somebody else who is to do the same: "weights" of rank 0, f32, one parameter after the other;
  // "inputs.<rank>", f32 [batch, 1, 28, 28]; "targets.<rank>", i64 [batch].
  void save(const std::filesystem::path& folder);

 private:
  double step(dist::nn::Module& module, dist::nn::SGD& optimizer);
  std::function<void()> start(const dist::GradBucket& bucket);

  dist::data::Batch batch_;
  dist::nn::ConvNet model_, alone_;
  dist::nn::SGD optimizer_, optimizer_alone_;
  dist::nn::CrossEntropyLoss loss_;
  std::vector<dist::Tensor> buckets_;  // as large as those of the last step
  dist::DistributedDataParallel ddp_;
  double exposed_ = 0, last_loss_ = 0;
};

}  // namespace distlab::bench
