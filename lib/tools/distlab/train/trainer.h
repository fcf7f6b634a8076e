// Trainer: what one rank of `distlab train` does. Read trainer.cpp as the training loop that everybody
// writes.
#pragma once

#include <memory>
#include <vector>

#include "dist/data/data_loader.h"
#include "dist/nn/cross_entropy.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/datasets.h"
#include "distlab/train/history.h"
#include "distlab/train/narrator.h"
#include "distlab/train/options.h"
#include "distlab/train/scheme.h"

namespace distlab {

// Within the default group, on every rank of it, alike.
class Trainer {
 public:
  explicit Trainer(const TrainOptions& options);
  // All epochs that are left; returns how the last one went. Errors are one line; a loss that is no number is
  // one.
  EpochResult run();

 private:
  void train_epoch(int epoch, EpochResult& result);
  double train_step(const dist::data::Batch& batch, StepTimes& times);
  void evaluate(EpochResult& result);
  RunSettings settings(int epochs_done) const;
  void resume();
  int copies() const { return static_cast<int>(devices_.size()); }
  std::int64_t step_size() const { return options_.batch_size * copies(); }

  const TrainOptions options_;
  const int rank_, ranks_;
  const std::vector<dist::Device> devices_;  // of this rank's copies of the model
  const Datasets data_;
  dist::data::DistributedSampler sampler_;
  const std::unique_ptr<Scheme> scheme_;
  dist::nn::CrossEntropyLoss loss_;
  int first_epoch_ = 0;
  std::int64_t steps_ = 0;  // since the beginning
  History history_;
  Narrator narrator_;
};

}  // namespace distlab
