// HybridGpt: one GPT on a mesh of data-, sharded-, tensor-, pipeline- and context-parallel ranks, in any
// combination. Its losses, gradients and steps are those of one rank with the whole batch.
//
//   HybridGpt gpt(options, {.shape = parse_hybrid_shape("dp=2,tp=2")});
//   nn::AdamW optimizer(gpt.parameters());
//   gpt.zero_grad();
//   const double loss = gpt.step(tokens, targets);   // of this data rank's rows
//   gpt.clip_grad_norm(1);
//   optimizer.step();
#pragma once

#include <memory>
#include <vector>

#include "dist/nn/clip_grad_norm.h"
#include "dist/parallel/checkpoint/pieces.h"
#include "dist/parallel/context/ring_attention.h"
#include "dist/parallel/hybrid/hybrid_shape.h"
#include "dist/parallel/pipeline/gpt_pipeline.h"

namespace dist {

class GradientBuckets;

// The options of a HybridGpt.
struct HybridOptions {
  HybridShape shape = {};
  int micro_batches = 1;  // into which each data rank's rows are cut
  pipeline::Kind schedule = pipeline::Kind::one_f_one_b;
  int chunks = 1;                  // stages per rank of a pipeline
  bool sequence_parallel = false;  // with tp: activations between the pairs are divided along time
  bool recompute = false;          // nn::checkpoint() for each block
  std::int64_t ignore_index = -100;
};

class HybridGpt {
 public:
  // Every rank must call it, after the same nn::manual_seed() (D13): parameters begin with the numbers of a
  // GPT on one rank. Throws Error{mismatch} on every rank if one passes other options, and what
  // check_hybrid() throws, before anything is made. Parameters are of `dtype`, f32 or f64. With bf16 they are
  // in f32, the master weights (nn/optimizer.h) of a GPT in bf16: fully_shard() makes units of the model's
  // parameters, even where there is no fsdp, which are converted and gathered in bf16, while gradients are
  // averaged, and summed over micro-batches, in f32.
  HybridGpt(const nn::GptOptions& gpt, const HybridOptions& options, DType dtype = DType::f32,
            Caller at = Caller::here());
  ~HybridGpt();

  // Which rows of a batch this rank has: data rank r of n has the r-th of n equal parts.
  int data_rank() const { return data_rank_; }
  int data_ranks() const { return options_.shape.data_ranks(); }

  // Forward and backward for this data rank's rows of tokens and targets, [rows, time] i64: whole sequences,
  // equal on all ranks of one data rank. Data ranks may have different numbers of rows and of targets that
  // count, even none: the gradients that are added are those of the mean over all targets that count, of the
  // whole batch. Returns the mean loss, on every rank. Collective over all ranks.
  //
  // Parameters may be frozen and unfrozen between steps, alike on every rank that has them: the next step
  // compares the ranks, and all throw Error{mismatch} if they differ.
  //
  // A batch that one rank cannot take is refused on all of them before anything moves; see Pipeline::step(),
  // also for what to do after an error in the middle. With one rank, nothing is exchanged.
  double step(const Tensor& tokens, const Tensor& targets, Caller at = Caller::here());
  // The mean loss in evaluation, without gradients; rows and time may be others than step() has. Collective.
  double evaluate(const Tensor& tokens, const Tensor& targets, Caller at = Caller::here());
  void zero_grad() { pipeline_->zero_grad(); }
  // nn::clip_grad_norm() of parameters(): by the norm of the whole model's gradient. Collective.
  double clip_grad_norm(double max_norm, const nn::ClipOptions& options = {});
  // Dropout draws by the seed and the number of the step, for `rows` rows per data rank.
  void set_step(std::uint64_t seed, std::uint64_t step, std::int64_t rows);

  std::vector<nn::Parameter*> parameters() { return pipeline_->parameters(); }
  const DeviceMesh& mesh() const { return mesh_; }
  const std::vector<std::unique_ptr<nn::GPT>>& stages() const { return pipeline_->stages(); }
  int most_in_flight() const { return pipeline_->most_in_flight(); }
  // The last step on this rank (Pipeline::timeline); without pp, the computations of the one stage.
  const std::vector<pipeline::TimedAction>& timeline() const { return pipeline_->timeline(); }

  // What this rank has of each parameter, and of an optimizer of parameters(), in terms of the whole model
  // (checkpoint/pieces.h): saved on one mesh, loaded on another.
  Pieces pieces();
  Pieces pieces(nn::Optimizer& optimizer);
  // The gradients in the same way.
  Pieces gradient_pieces();

 private:
  void prepare(nn::GPT& stage);
  bool has_units() const { return options_.shape.fsdp > 1 || dtype_ == DType::bf16; }  // of fully_shard()
  StepRanks step_ranks() const;
  std::function<void(bool)> start_averages(int stage);
  Tensor slice(const Tensor& whole);

  const nn::GptOptions gpt_;
  const HybridOptions options_;
  const CallSite where_;
  DeviceMesh mesh_;
  DeviceMesh replicas_;  // ranks with the same parameters and other tokens, along dp and cp
  int data_rank_ = 0;
  DType dtype_;
  std::vector<std::unique_ptr<ContextParallel>> contexts_;  // of this rank's stages, with cp
  std::unique_ptr<GptPipeline> pipeline_;
  // With replicas, of this rank's stages: their gradients are averaged while the last backward computes
  // others. Empty with units, which do so themselves.
  struct Averages;
  void make_averages(nn::GPT& stage, Averages& averages);
  void follow_requires_grad();
  std::vector<Averages> averages_;
};

}  // namespace dist
