// The interpreter: agree() finds the shapes of activations, step() goes through this rank's list, in which
// compute() does the computations and exchange() the messages.
#include "dist/parallel/pipeline/pipeline.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/core/view.h"
#include "dist/group/check_same.h"
#include "dist/nn/cross_entropy.h"
#include "dist/parallel/pipeline/check.h"

namespace dist {

using pipeline::Action;
using pipeline::ActionKind;

namespace {

constexpr std::int64_t most_axes = 8;

// A shape and a dtype as a message of one size.
Tensor described(const Tensor& t) {
  Tensor d = zeros({most_axes + 2}, DType::i64, cpu);
  const auto numbers = d.data<std::int64_t>();
  numbers[0] = t.dim();
  numbers[1] = static_cast<std::int64_t>(t.dtype());
  std::ranges::copy(t.shape(), numbers.begin() + 2);
  return d;
}

Tensor made_as(const Tensor& description, Device device) {
  const auto numbers = description.data<std::int64_t>();
  return zeros(Shape(numbers.begin() + 2, numbers.begin() + 2 + numbers[0]), static_cast<DType>(numbers[1]),
               device);
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

// Whether all gradients of the stage are complete after this action.
bool is_last_backward(const std::vector<Action>& list, std::size_t i) {
  const auto adds_gradients = [&](const Action& a) {
    return (a.kind == ActionKind::backward || a.kind == ActionKind::backward_weight) &&
           a.stage == list[i].stage;
  };
  return adds_gradients(list[i]) &&
         std::none_of(list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list.end(), adds_gradients);
}

}  // namespace

LossFunction cross_entropy_loss(std::int64_t ignore_index) {
  return {.of =
              [ignore_index](const Tensor& output, const Tensor& targets) {
                nn::CrossEntropyLoss loss({.ignore_index = ignore_index});
                const nn::Loss mean = loss.forward(output, targets);
                return PartialLoss{mean.total(), loss.backward().mul_(mean.count())};
              },
          .count =
              [ignore_index](const Tensor& targets) {
                const Tensor on_host = targets.to(cpu);
                const auto all = on_host.data<std::int64_t>();
                return static_cast<double>(all.size() -
                                           static_cast<std::size_t>(std::ranges::count(all, ignore_index)));
              }};
}

Pipeline::Pipeline(std::vector<nn::Module*> stages, pipeline::Schedule schedule, PipelineOptions options,
                   Caller at)
    : stages_(std::move(stages)),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      where_(users_line(at)),
      rank_(get_rank(options_.group, where_)) {
  check_same("Pipeline", description(schedule_), options_.group, where_);
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
  const bool splits =
      std::ranges::any_of(list, [](const Action& a) { return a.kind == ActionKind::backward_weight; });
  for (nn::Module* const stage : stages_) {
    stage->set_forwards_kept(static_cast<std::size_t>(shape.micro_batches));
    stage->defer_parameter_grads(splits);
  }
}

nn::Module& Pipeline::module(int stage) const {
  return *stages_[static_cast<std::size_t>(stage / schedule_.shape.ranks)];
}

std::int64_t Pipeline::first_row(int micro_batch) const {
  return chunk_begin(rows_, micro_batch, schedule_.shape.micro_batches);
}

// Every stage sends one row of zeros through, in evaluation, and tells the next one the shape of its result.
void Pipeline::agree(const Tensor& inputs) {
  const pipeline::Shape& shape = schedule_.shape;
  const auto global = [&](int stage) {
    const int rank = shape.rank_of(stage);
    return options_.group ? options_.group.global_rank(rank) : rank;
  };
  Tensor rows = full(
      {1}, rank_ == 0 && inputs.is_defined() && inputs.dim() > 0 ? static_cast<double>(inputs.size(0)) : 0,
      DType::i64, cpu);
  broadcast(rows, global(0), {.group = options_.group}, where_);
  if (rows.item<std::int64_t>() < shape.micro_batches)
    fail(Errc::invalid_argument, "Pipeline: the batch has {} on rank 0, too few for {} micro-batches",
         counted(rows.item<std::int64_t>(), "row"), shape.micro_batches);
  rows_ = rows.item<std::int64_t>();
  for (int stage = 0; stage < shape.stages(); ++stage) {
    if (shape.rank_of(stage) != rank_) continue;
    nn::Module& layer = module(stage);
    Tensor in;
    if (is_first(stage)) {
      in = Tensor(inputs.narrow(0, 1)).clone();
      input_ = inputs.shape();
    } else if (shape.are_apart(stage, stage - 1)) {
      Tensor description = zeros({most_axes + 2}, DType::i64, cpu);
      recv(description, global(stage - 1), {.group = options_.group}, where_);
      in = made_as(description, device_of(layer));
    } else {
      in = row_out_.at(stage - 1);
    }
    const bool was_training = layer.is_training();
    layer.eval();
    const Tensor out = layer.forward(in);
    layer.forget_forward();
    layer.train(was_training);
    row_in_[stage] = in;
    row_out_[stage] = out;
    if (!is_last(stage) && shape.are_apart(stage, stage + 1))
      send(described(out), global(stage + 1), {.group = options_.group}, where_);
  }
}

double Pipeline::step(const Tensor& inputs, const Tensor& targets) { return run(inputs, targets, true); }

double Pipeline::evaluate(const Tensor& inputs, const Tensor& targets) {
  for (nn::Module* const stage : stages_) stage->eval();
  const double loss = run(inputs, targets, false);
  for (nn::Module* const stage : stages_) stage->train();
  return loss;
}

double Pipeline::run(const Tensor& inputs, const Tensor& targets, bool trains) {
  if (rows_ == 0) agree(inputs);
  if (rank_ == 0 && inputs.shape() != input_)
    fail(
        Errc::invalid_argument,
        "Pipeline: this batch is {}, the first one was {}; all ranks have agreed on that shape: make another "
        "Pipeline for another shape",
        to_string(inputs.shape()), to_string(input_));
  trains_ = trains;
  loss_ = count_ = 0;
  in_flight_ = most_in_flight_ = 0;
  began_ = Clock::now();
  timeline_.clear();
  if (rank_ == schedule_.shape.rank_of(schedule_.shape.stages() - 1)) count_ = options_.loss.count(targets);
  std::vector<Action> list = schedule_.ranks[static_cast<std::size_t>(rank_)];
  if (!trains) std::erase_if(list, [](const Action& a) { return !pipeline::is_forward(a.kind); });
  std::vector<std::function<void()>> at_the_end;
  for (std::size_t i = 0; i < list.size();) {
    if (options_.on_last_backward && is_last_backward(list, i))
      at_the_end.push_back(options_.on_last_backward(list[i].stage / schedule_.shape.ranks));
    std::size_t end = i;
    while (end < list.size() && pipeline::is_message(list[end].kind)) ++end;
    if (end > i)
      exchange(std::span(list).subspan(i, end - i)), i = end;
    else
      compute(list[i++], inputs, targets);
  }
  for (auto& [work, tensor] : sends_) work.wait();
  sends_.clear();
  for (const auto& finish : at_the_end) finish();
  return count_ > 0 ? loss_ / count_ : 0;
}

double Pipeline::now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void Pipeline::compute(const Action& action, const Tensor& inputs, const Tensor& targets) {
  const Key key{action.stage, action.micro_batch};
  computes_since_ = now();
  if (action.kind == ActionKind::forward)
    forward(key, inputs, targets);
  else if (action.kind == ActionKind::backward_weight)
    module(action.stage).run_parameter_grads();
  else
    backward(key);
  timeline_.push_back({action, computes_since_, now()});
}

// What a stage takes: received, or left by the previous stage on the same rank.
Tensor Pipeline::take(std::map<Key, Tensor>& from, std::map<Key, Work>& receives, const Key& key) {
  if (const auto receive = receives.extract(key)) Work(receive.mapped()).wait();
  return std::move(from.extract(key).mapped());
}

void Pipeline::forward(const Key& key, const Tensor& inputs, const Tensor& targets) {
  const auto [stage, j] = key;
  const std::int64_t first = first_row(j), count = first_row(j + 1) - first;
  const Tensor in =
      is_first(stage) ? inputs.narrow(first, count) : take(activations_, activation_receives_, key);
  computes_since_ = now();
  nn::Module& layer = module(stage);
  nn::Position position = layer.position();
  position.first_row += first;
  layer.set_position(position);
  const Tensor out = layer.forward(in);
  position.first_row -= first;
  layer.set_position(position);
  if (trains_)
    most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
  else
    layer.forget_forward();
  if (is_last(stage)) {
    PartialLoss loss = options_.loss.of(out, targets.narrow(first, count));
    loss_ += loss.sum;
    if (trains_) gradients_[key] = loss.grad.mul_(1 / count_);
  } else if (schedule_.shape.are_apart(stage, stage + 1)) {
    outputs_[key] = out;
  } else {
    activations_[{stage + 1, j}] = out;
  }
}

void Pipeline::backward(const Key& key) {
  const auto [stage, j] = key;
  const Tensor grad = take(gradients_, gradient_receives_, key);
  computes_since_ = now();
  const Tensor grad_in = module(stage).backward(grad);
  --in_flight_;
  if (is_first(stage)) return;
  (schedule_.shape.are_apart(stage, stage - 1) ? input_grads_[key] : gradients_[{stage - 1, j}]) = grad_in;
}

// All messages of a step are started together.
void Pipeline::exchange(std::span<const Action> messages) {
  std::vector<P2P> operations;
  for (const auto& [kind, stage, j] : messages) {
    const Key key{stage, j};
    const bool goes_up = kind == ActionKind::send_activation || kind == ActionKind::receive_gradient;
    const int peer = schedule_.shape.rank_of(goes_up ? stage + 1 : stage - 1);
    Tensor t;
    if (kind == ActionKind::send_activation) t = outputs_.extract(key).mapped();
    if (kind == ActionKind::send_gradient) t = input_grads_.extract(key).mapped();
    if (pipeline::is_receive(kind)) {
      const bool is_activation = kind == ActionKind::receive_activation;
      const Tensor& row = (is_activation ? row_in_ : row_out_).at(stage);
      Shape shape = row.shape();
      shape[0] = first_row(j + 1) - first_row(j);
      t = empty(shape, row.dtype(), row.device());
      (is_activation ? activations_ : gradients_)[key] = t;
    }
    operations.push_back({pipeline::is_receive(kind) ? P2P::irecv : P2P::isend, t,
                          options_.group ? options_.group.global_rank(peer) : peer, options_.group});
  }
  std::vector<Work> works = batch_isend_irecv(operations, {}, where_);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Key key{messages[i].stage, messages[i].micro_batch};
    if (messages[i].kind == ActionKind::receive_activation)
      activation_receives_[key] = works[i];
    else if (messages[i].kind == ActionKind::receive_gradient)
      gradient_receives_[key] = works[i];
    else
      sends_.emplace_back(works[i], operations[i].tensor);
  }
}

}  // namespace dist
