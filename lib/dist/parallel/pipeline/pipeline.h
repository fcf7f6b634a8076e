// Pipeline: runs a schedule (schedule.h) on the ranks of a group, each of which has some stages of a model.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "dist/core/clock.h"
#include "dist/group/process_group.h"
#include "dist/nn/module.h"
#include "dist/parallel/pipeline/schedule.h"

namespace dist {

// A loss as a sum over what counts (tokens, samples), so that the mean over a batch does not depend on how it
// is cut into micro-batches.
struct PartialLoss {
  double sum = 0;
  Tensor grad;  // of the sum, with respect to the output
};
struct LossFunction {
  std::function<PartialLoss(const Tensor& output, const Tensor& targets)> of;
  std::function<double(const Tensor& targets)> count;
};
// Cross entropy over [..., classes] and [...] i64 (nn/cross_entropy.h).
LossFunction cross_entropy_loss(std::int64_t ignore_index = -100);

// The options of a Pipeline.
struct PipelineOptions {
  ProcessGroup group = {};  // as many ranks as the schedule has; default: the default group
  LossFunction loss = cross_entropy_loss();
  // Called in a step before the last backward of each of this rank's stages (number 0, 1, ... on this rank),
  // or before its last weight gradients, where the schedule splits backward: from then on, each of its
  // gradients that is ready is complete; those that are not deferred are so already. What it returns is
  // called at the end of the step.
  std::function<std::function<void()>(int number)> on_last_backward = {};
};

class Pipeline {
 public:
  // This rank's stages, in order: with p ranks rank r has stages r, r + p, ... The modules must outlive this,
  // and keep what several forwards need (it sets Module::set_forwards_kept). Throws Error{invalid_argument}
  // with check()'s sentence for a schedule that is wrong, and for another number of ranks or stages.
  Pipeline(std::vector<nn::Module*> stages, pipeline::Schedule schedule, PipelineOptions options = {},
           Caller at = Caller::here());

  // Forward and backward of one batch, which is cut along its first axis into the schedule's micro-batches
  // (their sizes differ by at most one row). The gradients that it adds are those of the mean loss over the
  // batch. Collective. `inputs` is needed on the rank with the first stage, `targets` on the one with the
  // last stage; other ranks may pass undefined tensors. Returns the loss on the rank with the last stage, and
  // 0 elsewhere. The first call agrees on the shapes of activations: later batches have the same shape.
  // Throws Error{invalid_argument} for another one and for a batch with fewer rows than micro-batches.
  double step(const Tensor& inputs, const Tensor& targets);

  // The loss of a batch in evaluation: only the forwards of the schedule and their messages. Collective, as
  // step().
  double evaluate(const Tensor& inputs, const Tensor& targets);

  // Micro-batches whose forward had run and whose backward had not, at most, in the last step on this rank.
  int most_in_flight() const { return most_in_flight_; }
  // The computations of the last step on this rank, in seconds since it began on this rank. What a stage
  // waits for before it begins is not part of it.
  const std::vector<pipeline::TimedAction>& timeline() const { return timeline_; }

 private:
  using Key = std::pair<int, int>;  // stage, micro-batch
  nn::Module& module(int stage) const;
  bool is_first(int stage) const { return stage == 0; }
  bool is_last(int stage) const { return stage + 1 == schedule_.shape.stages(); }
  std::int64_t first_row(int micro_batch) const;
  void agree(const Tensor& inputs);
  double run(const Tensor& inputs, const Tensor& targets, bool trains);

  double now() const;  // in the step
  void compute(const pipeline::Action& action, const Tensor& inputs, const Tensor& targets);
  void forward(const Key& key, const Tensor& inputs, const Tensor& targets);
  void backward(const Key& key);
  void exchange(std::span<const pipeline::Action> messages);
  Tensor take(std::map<Key, Tensor>& from, std::map<Key, Work>& receives, const Key& key);

  const std::vector<nn::Module*> stages_;
  const pipeline::Schedule schedule_;
  const PipelineOptions options_;
  const CallSite where_;
  const int rank_;

  std::int64_t rows_ = 0;  // of a batch; 0: not agreed yet
  Shape input_;            // of a batch, on the rank with the first stage
  // One row of what each of this rank's stages receives and gives: for their shapes and dtypes.
  std::map<int, Tensor> row_in_, row_out_;

  // The state of the step that is under way.
  std::map<Key, Tensor> activations_, gradients_;  // that a stage takes
  std::map<Key, Tensor> outputs_, input_grads_;    // that a stage gives
  std::map<Key, Work> activation_receives_, gradient_receives_;
  std::vector<std::pair<Work, Tensor>> sends_;
  double loss_ = 0, count_ = 0;
  bool trains_ = true;
  int in_flight_ = 0, most_in_flight_ = 0;
  Clock::time_point began_{};
  double computes_since_ = 0;
  std::vector<pipeline::TimedAction> timeline_;
};

}  // namespace dist
