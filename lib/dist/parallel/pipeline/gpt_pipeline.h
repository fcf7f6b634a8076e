// GptPipeline: a GPT cut into stages of about equal cost, on the ranks of a pipeline.
#pragma once

#include <memory>
#include <vector>

#include "dist/nn/gpt.h"
#include "dist/parallel/pipeline/pipeline.h"

namespace dist {

// The blocks of each stage, so that the costliest stage costs as little as possible: in multiplications per
// token, 12 width^2 and 2 context width per block and vocab_size width for the head. Each stage has at least
// one block. Throws Error{invalid_argument} for more stages than blocks.
std::vector<nn::GptSlice> split_by_cost(const nn::GptOptions& options, int stages);

// The options in lines, for check_same().
std::string description(const nn::GptOptions& options);

// The options of a GptPipeline.
struct GptPipelineOptions {
  ProcessGroup group = {};  // default: the default group
  pipeline::Kind schedule = pipeline::Kind::one_f_one_b;
  int micro_batches = 4;
  int chunks = 1;  // stages per rank; more than one only for an interleaved schedule
  LossFunction loss = cross_entropy_loss();
  // Called for each of this rank's stages before the pipeline is made: divides it further, along other axes.
  std::function<void(nn::GPT&)> prepare = {};
  // What this rank's stages take of [rows, time] tokens, and of the targets; default: all.
  std::function<Tensor(const Tensor& whole)> slice = {};
  StepRanks step_ranks = {};  // of PipelineOptions
  std::function<std::function<void(bool is_complete)>(int number)> on_last_backward =
      {};  // of PipelineOptions
};

class GptPipeline {
 public:
  // This rank's stages begin with the numbers of a whole GPT that is made after the same manual_seed() (D13).
  // With a tied head the last stage has a copy of the first one's table, and the parameter's record
  // (mesh/placed.h) says so. Collective; throws Error{mismatch} on every rank if one passes other options.
  GptPipeline(const nn::GptOptions& gpt, const GptPipelineOptions& options = {}, Caller at = Caller::here());
  GptPipeline(const GptPipeline&) = delete;  // what it is made of has its address
  GptPipeline& operator=(const GptPipeline&) = delete;

  // Pipeline::step() for [rows, time] i64 tokens and targets; it refuses those that are not in the
  // vocabulary, too, and more tokens than the context. With a tied head the first and the last stage have a
  // table each: their gradients are summed, so that the tables stay equal; another step() without zero_grad()
  // adds its gradients once.
  double step(const Tensor& tokens, const Tensor& targets, Caller at = Caller::here());
  double evaluate(const Tensor& tokens, const Tensor& targets, Caller at = Caller::here()) {
    return pipeline_->evaluate(tokens, targets, at);
  }
  void zero_grad();

  const std::vector<std::unique_ptr<nn::GPT>>& stages() const { return stages_; }  // of this rank
  std::vector<nn::Parameter*> parameters();                                        // of all its stages
  // Where a tied head is apart from its embedding, this rank's copies of the table: the last stage's is the
  // second.
  const std::vector<nn::Parameter*>& tables() const { return tables_; }
  int most_in_flight() const { return pipeline_->most_in_flight(); }
  const std::vector<pipeline::TimedAction>& timeline() const { return pipeline_->timeline(); }

 private:
  void admit(Tensor& tokens, Tensor& targets) const;
  void find_tables(CallSite at);
  void take_tables_apart();
  void sum_tied_gradients(CallSite at);

  const nn::GptOptions gpt_;
  const GptPipelineOptions options_;
  std::vector<std::unique_ptr<nn::GPT>> stages_;
  std::unique_ptr<Pipeline> pipeline_;
  // Where a tied head is apart from its embedding: this rank's tables, and the group of the two ranks if they
  // are not on one.
  std::vector<nn::Parameter*> tables_;
  ProcessGroup tied_group_;
  bool tables_are_summed_ = false;  // both gradients are the sum, since the last zero_grad()
};

}  // namespace dist
