// The beginning and the end of a step: run() lets the ranks agree (agreement.h) on what look_at() finds, and
// on the shapes of activations where they are new; step.cpp does what is in between.
#include "dist/parallel/pipeline/pipeline.h"

#include <algorithm>
#include <ranges>
#include <sstream>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/crc32.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/check_same.h"
#include "dist/nn/cross_entropy.h"
#include "dist/parallel/pipeline/agreement.h"
#include "dist/parallel/pipeline/check.h"
#include "dist/parallel/pipeline/stage_parameters.h"
#include "dist/parallel/pipeline/step.h"

namespace dist {

using pipeline::Agreement, pipeline::BatchFacts, pipeline::StageParameters;

namespace {

PipelineOptions with_groups(PipelineOptions options, CallSite at) {
  if (!options.group) options.group = default_group(at);
  StepRanks& ranks = options.step_ranks;
  if (ranks.group) return options;
  const int n = options.group.size();
  ranks.group = options.group;
  ranks.same_batch = n > 1 ? std::vector{0, n - 1} : std::vector{0};
  return options;
}

// A shape and a dtype as a message, in which 0 stands for no tensor.
std::string described(const Tensor& t) {
  if (!t.is_defined()) return "0";
  return fmt::format("1 {} {}", static_cast<int>(t.dtype()), fmt::join(t.shape(), " "));
}

Tensor made_as(const std::string& description, Device device) {
  std::istringstream in(description);
  int is_defined = 0, dtype = 0;
  if (!(in >> is_defined >> dtype) || is_defined == 0) return {};
  Shape shape;
  for (std::int64_t size = 0; in >> size;) shape.push_back(size);
  return zeros(std::move(shape), static_cast<DType>(dtype), device);
}

Device device_of(nn::Module& module) {
  const auto parameters = module.parameters();
  return parameters.empty() ? get_default_device() : parameters[0]->value.device();
}

// One line per action of the schedule.
std::string description(const pipeline::Schedule& schedule) {
  std::string text = fmt::format("{} micro-batches\n", schedule.shape.micro_batches);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (std::size_t i = 0; i < schedule.ranks[rank].size(); ++i)
      text += fmt::format("{} as action {} of rank {}\n", short_text(schedule.ranks[rank][i], schedule.shape),
                          i, rank);
  return text;
}

std::uint32_t of_shape(const Tensor& t, std::uint32_t before) {
  return crc32(std::as_bytes(std::span(t.shape())), before);
}

std::uint32_t checksum(const Tensor& t, std::uint32_t before) {
  const Tensor on_host = t.to(cpu);
  return crc32({static_cast<const std::byte*>(on_host.raw()), on_host.nbytes()}, of_shape(t, before));
}

// Evaluation, and then for each module the mode in which it was.
class Evaluating {
 public:
  explicit Evaluating(const std::vector<nn::Module*>& stages) {
    for (nn::Module* const stage : stages) {
      for (nn::Module* const module : stage->modules()) before_.emplace_back(module, module->is_training());
      stage->eval();
    }
  }
  ~Evaluating() {
    for (const auto& [module, trains] : before_) module->train(trains);  // parents come before their children
  }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  std::vector<std::pair<nn::Module*, bool>> before_;
};

}  // namespace

LossFunction cross_entropy_loss(std::int64_t ignore_index) {
  return {.of =
              [ignore_index](const Tensor& output, const Tensor& targets) {
                nn::CrossEntropyLoss loss({.ignore_index = ignore_index});
                const nn::Loss sum = loss.forward(output, targets, 1);
                return PartialLoss{sum.total(), loss.backward()};
              },
          .count =
              [ignore_index](const Tensor& targets) {
                const Tensor on_host = targets.to(cpu);
                const auto all = on_host.data<std::int64_t>();
                return std::ssize(all) - std::ranges::count(all, ignore_index);
              },
          .ignore_index = ignore_index};
}

Pipeline::Pipeline(std::vector<nn::Module*> stages, pipeline::Schedule schedule, PipelineOptions options,
                   Caller at)
    : stages_(std::move(stages)),
      schedule_(std::move(schedule)),
      has_all_(bool(options.step_ranks.group)),
      options_(with_groups(std::move(options), at)),
      rank_(get_rank(options_.group, at)),
      has_first_(rank_ == 0),
      has_last_(rank_ == schedule_.shape.rank_of(schedule_.shape.stages() - 1)),
      agreement_(std::make_unique<Agreement>(options_.step_ranks)) {
  at = users_line(at);
  check_same("Pipeline", description(schedule_), options_.group, at);
  const pipeline::Shape& shape = schedule_.shape;
  if (const int n = get_world_size(options_.group, at); n != shape.ranks)
    fail(Errc::invalid_argument, "Pipeline: the schedule is for {}, the group has {}",
         counted(shape.ranks, "rank"), n);
  if (std::ssize(stages_) != shape.chunks)
    fail(Errc::invalid_argument, "Pipeline: rank {} passes {}, the schedule has {} per rank", rank_,
         counted(stages_.size(), "stage"), shape.chunks);
  if (const std::string wrong = pipeline::check(schedule_); !wrong.empty())
    fail(Errc::invalid_argument, "Pipeline: {}", wrong);
  const auto& list = schedule_.ranks[static_cast<std::size_t>(rank_)];
  const bool splits = std::ranges::any_of(
      list, [](const auto& action) { return action.kind == pipeline::ActionKind::backward_weight; });
  for (nn::Module* const stage : stages_) {
    stage->set_forwards_kept(static_cast<std::size_t>(shape.micro_batches));
    stage->defer_parameter_grads(splits);
  }
  parameters_ = std::make_unique<StageParameters>(stages_, shape, options_.group, at);
  parameters_->on_cleared([this] { needs_zero_grad_ = false; });
}

Pipeline::~Pipeline() = default;

nn::Module& Pipeline::module(int stage) const {
  return *stages_[static_cast<std::size_t>(stage / schedule_.shape.ranks)];
}

double Pipeline::step(const Tensor& inputs, const Tensor& targets, Caller at) {
  return run(inputs, targets, true, at);
}

double Pipeline::evaluate(const Tensor& inputs, const Tensor& targets, Caller at) {
  return run(inputs, targets, false, at);
}

// What this rank knows of a batch. Inputs and targets become what its stages take of them.
BatchFacts Pipeline::look_at(Tensor& inputs, Tensor& targets, bool trains) {
  BatchFacts batch;
  const char* const equal =
      options_.same_shape ? "they must have the same shape" : "they must have the same number of rows";
  batch.why_equal = has_all_
                        ? "both compute with the same part of the batch, so they must be given the same; its "
                          "number is data_rank(), not get_rank()"
                        : equal;
  const bool has_inputs = has_first_ || has_all_, has_targets = has_last_ || has_all_;
  const auto look = [&](const char* what, const Tensor& t) {
    if (!t.is_defined() || t.dim() == 0)
      fail(Errc::invalid_argument, "the {} are {}; this rank needs them, as [rows, ...]", what,
           t.is_defined() ? "[]" : "undefined");
    batch.description +=
        fmt::format("{}{} {}", batch.description.empty() ? "" : " and ", what, to_string(t.shape()));
    if (options_.step_ranks.same_batch.size() == 1) return;
    if (has_all_)
      batch.key = checksum(t, batch.key);
    else
      batch.key = options_.same_shape ? of_shape(t, 0) : static_cast<std::uint32_t>(t.size(0));
  };
  const auto belong_together = [&] {
    return options_.same_shape ? inputs.shape() == targets.shape() : inputs.size(0) == targets.size(0);
  };
  try {
    if (trains && needs_zero_grad_)
      fail(Errc::invalid_argument,
           "the step before failed in the middle and left a part of its gradients; call zero_grad() first");
    if (has_inputs) look("inputs", inputs);
    if (has_targets) look("targets", targets);
    if (has_inputs && has_targets && !belong_together())
      fail(Errc::invalid_argument, "{}; {}", batch.description, equal);
    if (has_all_) batch.description += fmt::format(" (checksum {:08x})", batch.key);
    if (has_inputs && inputs.size(0) < schedule_.shape.micro_batches)
      fail(Errc::invalid_argument, "the batch has {}, too few for {} micro-batches",
           counted(inputs.size(0), "row"), schedule_.shape.micro_batches);
    if (options_.admit) options_.admit(inputs, targets);
    batch.trains_others = trains && parameters_->train_others();
    if (has_inputs) batch.rows = inputs.size(0);
    if (has_inputs && schedule_.shape.ranks > 1)
      batch.has_new_shape =
          !like_.is_defined() || like_.dtype() != inputs.dtype() || like_.device() != inputs.device() ||
          !std::ranges::equal(like_.shape() | std::views::drop(1), inputs.shape() | std::views::drop(1));
    if (has_last_ && options_.step_ranks.counts) batch.counted = options_.loss.count(targets);
  } catch (const std::exception& error) {
    batch.refusal = error.what();
  }
  return batch;
}

// Every stage sends one row of zeros through, in evaluation, and tells the next one the shape of its result.
void Pipeline::agree_on_shapes(const Tensor& inputs, CallSite at) {
  const pipeline::Shape& shape = schedule_.shape;
  const Options options{.group = options_.group, .tag = agreement_->tag()};
  const Evaluating evaluating(stages_);
  std::string refusal;
  std::map<int, Tensor> row_in, row_out;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    if (shape.rank_of(stage) != rank_) continue;
    nn::Module& layer = module(stage);
    Tensor in, out;
    if (is_first(stage)) {
      in = inputs.narrow(0, 1).clone();
    } else if (shape.are_apart(stage, stage - 1)) {
      std::string description;
      recv_object(description, global_rank_of(stage - 1), options, at);
      in = made_as(description, device_of(layer));
    } else {
      in = row_out[stage - 1];
    }
    try {
      if (in.is_defined()) out = layer.forward(in);
      layer.forget_forward();
      if (out.is_defined() && (out.dim() == 0 || out.size(0) != 1))
        fail(Errc::invalid_argument, "stage {} gives {} for one row; its first axis must be the rows", stage,
             to_string(std::exchange(out, {}).shape()));
    } catch (const std::exception& error) {
      if (is_of_communication(error)) throw;
      refusal = error.what();
    }
    row_in[stage] = in, row_out[stage] = out;
    if (!is_last(stage) && shape.are_apart(stage, stage + 1))
      send_object(described(out), global_rank_of(stage + 1), options, at);
  }
  like_ = {};
  agreement_->agree_on_shapes(refusal);
  row_in_ = std::move(row_in), row_out_ = std::move(row_out);
  if (has_first_ || has_all_) like_ = inputs.narrow(0, 1).clone();
}

double Pipeline::run(Tensor inputs, Tensor targets, bool trains, CallSite at) {
  const BatchFacts own = look_at(inputs, targets, trains), all = agreement_->begin(own, trains, at);
  if (all.trains_others) {
    agreement_->agree_on_trained(parameters_->trained());
    parameters_->have_agreed();
  }
  if (all.has_new_shape) agree_on_shapes(inputs, at);
  std::optional<Evaluating> evaluating;
  if (trains)
    needs_zero_grad_ = !parameters_->empty();  // until it has come to its end
  else
    evaluating.emplace(stages_);
  if (trains && options_.on_begin) options_.on_begin();
  const auto counted = static_cast<double>(all.counted);
  Step step(*this,
            {.inputs = inputs,
             .targets = targets,
             .rows = has_all_ ? own.rows : all.rows,
             .scale = trains ? options_.step_ranks.averaged / counted : 0},
            agreement_->tag(), at);
  step.run();
  const double loss = agreement_->end(options_.step_ranks.counts ? step.loss() : 0, step.error());
  if (trains) needs_zero_grad_ = false;
  return loss / counted;
}

}  // namespace dist
