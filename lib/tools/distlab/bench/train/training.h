// Our side: the steps that pytorch_train.py takes, on its batch.
#pragma once

#include <filesystem>
#include <memory>

#include "dist/nn/graphed_step.h"
#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

#include "distlab/bench/train/options.h"
#include "distlab/bench/train/turn.h"

namespace distlab::bench {

class TrainSteps {
 public:
  // Throws Error{unsupported} where there is no such device.
  explicit TrainSteps(const TrainBenchOptions& options);
  // The weights as safetensors, in f32.
  void save(const std::filesystem::path& file);
  TrainTurn train(int steps);
  // On a GPU, after train(): seconds per launch of the recorded step's graphs, with nothing between them.
  double graphs_alone(int steps);
  std::int64_t parameters() const;
  std::string str() const { return model_->str(); }

 private:
  dist::nn::Loss step(const dist::Tensor& inputs, const dist::Tensor& targets);

  const TrainBenchOptions options_;
  const dist::Device device_;
  std::unique_ptr<dist::nn::Module> model_;
  std::unique_ptr<dist::nn::Optimizer> optimizer_;
  dist::nn::CrossEntropyLoss loss_;
  dist::Tensor inputs_, targets_;
  dist::nn::GraphedStep step_;  // on a CPU, the step itself
};

}  // namespace distlab::bench
