// Trainer: the work of one rank of `distlab train` with images. trainer.cpp has the usual training loop.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dist/data/data_loader.h"
#include "dist/nn/cross_entropy.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/datasets.h"
#include "distlab/train/ending.h"
#include "distlab/train/gpu_steps.h"
#include "distlab/train/history.h"
#include "distlab/train/narrator.h"
#include "distlab/train/options.h"
#include "distlab/train/scheme.h"

namespace distlab {

// Every rank of the default group must make one and call the same functions.
class Trainer {
 public:
  explicit Trainer(const TrainOptions& options);
  // Trains all epochs that are left, and returns the result of the last one. Errors are one line. A loss that
  // is not a finite number is an error. A signal ends it early (ending.h), even within an epoch.
  EpochResult run();

 private:
  void train_epoch(int epoch, EpochResult& result);
  void end_early(int epoch);
  double train_step(const dist::data::Batch& batch, StepTimes& times);
  dist::nn::Loss enqueue_step(const dist::Tensor& inputs, const dist::Tensor& targets);
  void evaluate(EpochResult& result);
  std::unique_ptr<dist::nn::Optimizer> make_sgd(dist::nn::Module& model) const;
  RunSettings settings(int epochs_done) const;
  void resume();
  int copies() const { return static_cast<int>(devices_.size()); }
  std::int64_t step_size() const { return batch_size_ * copies(); }

  const TrainOptions options_;
  const double lr_;
  const std::int64_t batch_size_;  // per copy of the model
  const int rank_, ranks_;
  const std::vector<dist::Device> devices_;  // of this rank's copies of the model
  const Datasets data_;
  dist::data::DistributedSampler sampler_;
  const std::unique_ptr<Scheme> scheme_;
  dist::nn::CrossEntropyLoss loss_;
  std::optional<GpuSteps> gpu_steps_;
  int first_epoch_ = 0;
  std::int64_t steps_ = 0;        // since the beginning
  std::int64_t epoch_steps_ = 0;  // of this epoch: trained, or to be skipped because an earlier run did
  double loss_sum_ = 0;           // of the images of this epoch that this rank has seen
  std::int64_t seen_ = 0;
  Ending ending_;
  History history_;
  Narrator narrator_;
};

}  // namespace distlab
