// Pipeline: runs a schedule (schedule.h) on the ranks of a group, each of which has some stages of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/module.h"
#include "dist/parallel/pipeline/schedule.h"

namespace dist {

namespace pipeline {
class Agreement;
class StageParameters;
struct BatchFacts;
}  // namespace pipeline

// A loss as a sum over what counts (tokens, samples), so that the mean over a batch does not depend on how it
// is cut into micro-batches.
struct PartialLoss {
  double sum = 0;
  Tensor grad;  // of the sum, with respect to the output
};
struct LossFunction {
  std::function<PartialLoss(const Tensor& output, const Tensor& targets)> of;
  std::function<std::int64_t(const Tensor& targets)> count;  // of those that count
  // Where targets are classes: the one that does not count. GptPipeline refuses others that are not in the
  // vocabulary.
  std::optional<std::int64_t> ignore_index = {};
};
// Cross entropy over [..., classes] and [...] i64 (nn/cross_entropy.h).
LossFunction cross_entropy_loss(std::int64_t ignore_index = -100);

// The ranks that take a step together.
struct StepRanks {
  // Default: those of the pipeline, of which the one with the first stage has the inputs, and the one with
  // the last stage the targets. Otherwise the ranks of several pipelines, each with its own part of the
  // batch, and every rank passes the inputs and the targets of its part.
  ProcessGroup group = {};
  std::vector<int> same_batch = {};  // with a group: its ranks that have this rank's part, in order
  bool counts = true;  // whether the last stage's targets count: not on ranks that repeat another's work
  int averaged = 1;    // the gradients are averaged over that many ranks, in the step or afterwards
};

// The options of a Pipeline.
struct PipelineOptions {
  ProcessGroup group = {};  // as many ranks as the schedule has; default: the default group
  LossFunction loss = cross_entropy_loss();
  StepRanks step_ranks = {};  // with several pipelines: all of their ranks
  // Whether inputs and targets have the same shape; otherwise, the same number of rows.
  bool same_shape = false;
  // Called for each batch before anything is sent. May replace inputs and targets by what this rank's stages
  // take of them, and throws for a batch that they cannot take: then all ranks refuse it.
  std::function<void(Tensor& inputs, Tensor& targets)> admit = {};
  // Called in a step before its first computation.
  std::function<void()> on_begin = {};
  // Called in a step before the last backward of each of this rank's stages (number 0, 1, ... on this rank),
  // or before its last weight gradients, where the schedule splits backward: from then on, each of its
  // gradients that is ready is complete; those that are not deferred are so already. What it returns is
  // called at the end of the step; `is_complete` is false if this rank has failed before, while other ranks
  // go on and need its share of the communication.
  std::function<std::function<void(bool is_complete)>(int number)> on_last_backward = {};
};

class Pipeline {
 public:
  // This rank's stages, in order: with p ranks rank r has stages r, r + p, ... The modules must outlive this,
  // and keep what several forwards need (it sets Module::set_forwards_kept). Their parameters get a record
  // (mesh/placed.h) that the other ranks have other ones, so that nn::clip_grad_norm() clips by the norm of
  // the whole model. Throws Error{invalid_argument} with check()'s sentence for a schedule that is wrong, and
  // for another number of ranks or stages.
  Pipeline(std::vector<nn::Module*> stages, pipeline::Schedule schedule, PipelineOptions options = {},
           Caller at = Caller::here());
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Forward and backward of one batch, which is cut along its first axis into the schedule's micro-batches
  // (their sizes differ by at most one row). The gradients that it adds are those of the mean loss over all
  // targets that count, on all ranks. Collective. `inputs` is needed on the rank with the first stage,
  // `targets` on the one with the last stage; other ranks may pass undefined tensors. Returns the mean loss,
  // on every rank. Batches may have different shapes; one that differs from the batch before in more than the
  // number of rows costs an evaluation of one row, by which the stages learn the shapes of their results.
  //
  // Parameters may be frozen and unfrozen between steps, alike on every rank that has them: the next step
  // compares the ranks, and all throw Error{mismatch} if they differ.
  //
  // A batch that one rank cannot take is refused on every rank before anything moves, with the same
  // Error{invalid_argument}: fewer rows than micro-batches, inputs and targets that do not belong together,
  // no target that counts. If a stage or the loss throws in the middle, that rank throws its error at the end
  // of the step, and the others Error{aborted}; call zero_grad() then, and take the next batch. (The ranks
  // that have not failed go on with zeros until the end, so that no message is left; but a stage that
  // communicates with other ranks by itself must fail on all of them, or those wait until the group's
  // timeout.)
  double step(const Tensor& inputs, const Tensor& targets, Caller at = Caller::here());

  // The mean loss of a batch in evaluation: only the forwards of the schedule and their messages. Collective,
  // as step(). Afterwards each module is in the mode in which it was.
  double evaluate(const Tensor& inputs, const Tensor& targets, Caller at = Caller::here());

  // Micro-batches whose forward had run and whose backward had not, at most, in the last step on this rank.
  int most_in_flight() const { return most_in_flight_; }
  // The computations of the last step on this rank, in seconds since it began on this rank. What a stage
  // waits for before it begins is not part of it.
  const std::vector<pipeline::TimedAction>& timeline() const { return timeline_; }

 private:
  class Step;  // one that is under way (step.h)
  nn::Module& module(int stage) const;
  bool is_first(int stage) const { return stage == 0; }
  bool is_last(int stage) const { return stage + 1 == schedule_.shape.stages(); }
  int global_rank_of(int stage) const { return options_.group.global_rank(schedule_.shape.rank_of(stage)); }
  double run(Tensor inputs, Tensor targets, bool trains, CallSite at);
  pipeline::BatchFacts look_at(Tensor& inputs, Tensor& targets, bool trains);
  void agree_on_shapes(const Tensor& inputs, CallSite at);

  const std::vector<nn::Module*> stages_;
  const pipeline::Schedule schedule_;
  const bool has_all_;  // every rank passes inputs and targets (StepRanks)
  const PipelineOptions options_;
  const int rank_;
  const bool has_first_, has_last_;  // stages
  const std::unique_ptr<pipeline::Agreement> agreement_;

  Tensor like_;  // one row of the last inputs, where this rank has them
  // One row of what each of this rank's stages receives and gives: for their shapes and dtypes.
  std::map<int, Tensor> row_in_, row_out_;
  std::unique_ptr<pipeline::StageParameters> parameters_;
  bool needs_zero_grad_ = false;  // a step has failed
  int most_in_flight_ = 0;
  std::vector<pipeline::TimedAction> timeline_;
};

}  // namespace dist
