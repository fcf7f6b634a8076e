// TextTrainer: the work of one rank of `distlab train --model gpt`.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "dist/data/data_loader.h"
#include "dist/data/step_sampler.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/gpt.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/ending.h"
#include "distlab/train/gpu_steps.h"
#include "distlab/train/history.h"
#include "distlab/train/options.h"
#include "distlab/train/scheme.h"
#include "distlab/train/text/step_narrator.h"
#include "distlab/train/text/text_data.h"

namespace distlab {

// Every rank of the default group must make one and call run(). A step's batch, its dropout and so its loss
// are those of one rank whose batch is as large as all ranks' together.
class TextTrainer {
 public:
  explicit TextTrainer(const TrainOptions& options);
  // Trains all steps that are left, with validations in between, and returns the result of the last one.
  // Errors are one line. A loss that is not a finite number is an error.
  StepResult run();

 private:
  StepResult train_until(std::int64_t last);
  double train_step(const dist::data::Batch& batch, StepTimes& times);
  dist::nn::Loss enqueue_step(const dist::Tensor& inputs, const dist::Tensor& targets);
  void begin_step();
  double validation_loss();
  RunSettings settings() const;
  dist::nn::GPT& model() { return static_cast<dist::nn::GPT&>(scheme_->model()); }
  void save();  // collective
  void resume();
  void finish();

  const TrainOptions options_;
  const bool is_in_folder_;  // the checkpoint that a resumed run has found is that of a mesh
  const std::int64_t batch_size_;
  const int rank_, ranks_;
  const dist::Device device_;
  const TextData text_;
  const dist::data::TextDataset train_, validation_;
  const dist::nn::GptOptions gpt_;
  dist::data::StepSampler sampler_;
  std::string about_;  // how the file of --from was read, if it is of another program
  const std::unique_ptr<Scheme> scheme_;
  dist::nn::CrossEntropyLoss loss_{{.in_place = true}};
  std::optional<GpuSteps> gpu_steps_;
  std::int64_t done_ = 0;  // steps since the beginning
  History history_;
  Ending ending_;
  double grad_norm_ = std::numeric_limits<double>::quiet_NaN();  // of the last step; of graphs unknown
  StepNarrator narrator_;
};

}  // namespace distlab
