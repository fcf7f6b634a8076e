// Trainer: what one rank of `distlab train` does. Read trainer.cpp as the training loop that everybody
// writes.
#pragma once

#include <memory>

#include "dist/data/data_loader.h"
#include "dist/data/digits.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/sgd.h"

#include "distlab/train/checkpoint.h"
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

  const TrainOptions options_;
  const int rank_, ranks_;
  const dist::Device device_;
  const dist::data::Digits train_digits_, test_digits_;
  dist::data::DistributedSampler sampler_;
  const std::unique_ptr<dist::nn::Module> model_;
  dist::nn::SGD optimizer_;
  dist::nn::CrossEntropyLoss loss_;
  std::unique_ptr<Scheme> scheme_;
  int first_epoch_ = 0;
  std::int64_t steps_ = 0;  // since the beginning
  History history_;
  Narrator narrator_;
};

}  // namespace distlab
