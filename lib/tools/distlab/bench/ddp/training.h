// The measured step: a ConvNet learns the same batch of digits again and again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "dist/data/dataset.h"
#include "dist/dist.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/graphed_step.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

namespace distlab::bench {

inline constexpr double ddp_lr = 0.02, ddp_momentum = 0.9;

// The training of one rank. Every rank of the default group must make the same calls.
class Training {
 public:
  // `batch_size`: per rank; `is_one_graph`: all-reduces are in the step's graph, on backend nccl.
  Training(std::int64_t batch_size, dist::Device device, bool is_one_graph);

  // Each takes `steps` steps, and waits for the device at the end: train() as in ./distlab train; compute()
  // of a model of this rank alone; communicate() only the all-reduces of a step's buckets; graphs(), after
  // train() on a GPU, only the graphs of a step.
  void train(int steps);
  void compute(int steps);
  void communicate(int steps);
  void graphs(int steps);

  // After train(): the seconds per step that this rank waited for gradients of other ranks, and its last
  // loss.
  double exposed() const { return exposed_; }
  double loss() const { return last_loss_; }

  // Writes files for a peer that trains the same: "weights" of rank 0, f32, all parameters in order;
  // "inputs.<rank>", f32 [batch, 1, 28, 28]; "targets.<rank>", i64 [batch].
  void save(const std::filesystem::path& folder);

 private:
  dist::nn::GraphedStep::Step step_of(dist::nn::Module& module, dist::nn::SGD& optimizer);
  std::function<void()> start(const dist::GradBucket& bucket);
  void wait() const;

  const dist::Device device_;
  dist::data::Batch batch_;
  const std::unique_ptr<dist::nn::ConvNet> model_, alone_;
  dist::nn::SGD optimizer_, optimizer_alone_;
  dist::nn::CrossEntropyLoss loss_;
  std::vector<dist::Tensor> buckets_;  // of the sizes of the last step's buckets
  dist::DistributedDataParallel ddp_;
  dist::nn::GraphedStep step_, step_alone_;
  double exposed_ = 0, last_loss_ = 0;
};

}  // namespace distlab::bench
