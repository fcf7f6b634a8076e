// run() goes through this rank's list, in which compute() does the computations and exchange() the messages.
#include "dist/parallel/pipeline/step.h"

#include <algorithm>
#include <array>

#include "dist/core/fail.h"
#include "dist/core/view.h"

namespace dist {

using pipeline::Action;
using pipeline::ActionKind;

namespace {

// Whether all gradients of the stage are complete after this action.
bool is_last_backward(const std::vector<Action>& list, std::size_t i) {
  const auto adds_gradients = [&](const Action& a) {
    return (a.kind == ActionKind::backward || a.kind == ActionKind::backward_weight) &&
           a.stage == list[i].stage;
  };
  return adds_gradients(list[i]) &&
         std::none_of(list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list.end(), adds_gradients);
}

// The position of a micro-batch, while its forward runs.
struct AtRow {
  nn::Module& layer;
  const nn::Position before = layer.position();
  AtRow(nn::Module& of, std::int64_t first) : layer(of) {
    nn::Position position = before;
    position.first_row += first;
    layer.set_position(position);
  }
  ~AtRow() { layer.set_position(before); }
};

}  // namespace

bool is_of_communication(const std::exception& error) {
  const auto* const ours = dynamic_cast<const Error*>(&error);
  if (!ours) return false;
  constexpr std::array codes{Errc::timeout,    Errc::peer_failed, Errc::mismatch,
                             Errc::connection, Errc::aborted,     Errc::not_initialized};
  return std::ranges::find(codes, ours->code()) != codes.end();
}

Pipeline::Step::Step(Pipeline& pipeline, Batch batch, std::uint64_t tag, CallSite at)
    : pipeline_(pipeline), batch_(std::move(batch)), tag_(tag), at_(at), trains_(batch_.scale != 0) {
  pipeline_.most_in_flight_ = 0;
  pipeline_.timeline_.clear();
}

// What an error leaves behind is forgotten while it is on its way: until then, a Work that is dropped is not
// a mistake of the user.
Pipeline::Step::~Step() {
  if (is_complete_) return;
  for (nn::Module* const stage : pipeline_.stages_) stage->abandon_step();
}

std::vector<Action> Pipeline::Step::actions() const {
  std::vector<Action> list = pipeline_.schedule_.ranks[static_cast<std::size_t>(pipeline_.rank_)];
  if (!trains_) std::erase_if(list, [](const Action& a) { return !pipeline::is_forward(a.kind); });
  return list;
}

std::int64_t Pipeline::Step::first_row(int micro_batch) const {
  return chunk_begin(batch_.rows, micro_batch, pipeline_.schedule_.shape.micro_batches);
}

double Pipeline::Step::now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void Pipeline::Step::run() {
  const auto& options = pipeline_.options_;
  const std::vector<Action> list = actions();
  std::vector<std::function<void(bool)>> at_the_end;
  for (std::size_t i = 0; i < list.size();) {
    if (options.on_last_backward && is_last_backward(list, i))
      at_the_end.push_back(options.on_last_backward(list[i].stage / pipeline_.schedule_.shape.ranks));
    std::size_t end = i;
    while (end < list.size() && pipeline::is_message(list[end].kind)) ++end;
    if (end > i)
      exchange(std::span(list).subspan(i, end - i)), i = end;
    else
      compute(list[i++]);
  }
  for (auto* const arriving : {&activations_, &gradients_})  // none is left where nothing has failed
    for (auto& [key, each] : *arriving) each.receive.wait();
  for (auto& [work, tensor] : sends_) work.wait();
  for (const auto& finish : at_the_end) finish(!error_);
  is_complete_ = true;
}

void Pipeline::Step::compute(const Action& action) {
  if (error_) return;
  struct Guard {  // of the stages whose forwards wait for their backward
    Pipeline& pipeline;
    bool failed = true;
    ~Guard() {
      if (!failed) return;
      for (nn::Module* const stage : pipeline.stages_) stage->abandon_step();
    }
  };
  const Key key{action.stage, action.micro_batch};
  computes_since_ = now();
  try {
    Guard guard{pipeline_};
    if (action.kind == ActionKind::forward)
      forward(key);
    else if (action.kind == ActionKind::backward_weight)
      pipeline_.module(action.stage).run_parameter_grads();
    else
      backward(key);
    guard.failed = false;
  } catch (const std::exception& error) {
    if (is_of_communication(error)) throw;
    error_ = std::current_exception();
    return;
  }
  pipeline_.timeline_.push_back({action, computes_since_, now()});
}

// What a stage takes: received, or left by the previous stage on the same rank.
Tensor Pipeline::Step::take(std::map<Key, Arriving>& from, const Key& key) {
  Arriving arriving = std::move(from.extract(key).mapped());
  arriving.receive.wait();
  return std::move(arriving.tensor);
}

void Pipeline::Step::forward(const Key& key) {
  const auto [stage, j] = key;
  const std::int64_t first = first_row(j), count = first_row(j + 1) - first;
  const Tensor in = pipeline_.is_first(stage) ? batch_.inputs.narrow(first, count) : take(activations_, key);
  computes_since_ = now();
  nn::Module& layer = pipeline_.module(stage);
  const Tensor out = [&] {
    const AtRow position(layer, first);
    return layer.forward(in);
  }();
  if (trains_)
    pipeline_.most_in_flight_ = std::max(pipeline_.most_in_flight_, ++in_flight_);
  else
    layer.forget_forward();
  if (const nn::Module* const twice = trains_ && j == 0 ? layer.used_twice() : nullptr)
    fail(Errc::unsupported,
         "stage {}: {} has kept two forwards after one: a stage can use a layer once per forward(), since "
         "each "
         "backward() takes the oldest of all micro-batches; make two layers (and call zero_grad() after a "
         "forward() of your own)",
         stage, twice->str());
  if (pipeline_.is_last(stage)) {
    PartialLoss loss = pipeline_.options_.loss.of(out, batch_.targets.narrow(first, count));
    loss_ += loss.sum;
    if (trains_) gradients_[key] = {loss.grad.mul_(batch_.scale)};
  } else if (pipeline_.schedule_.shape.are_apart(stage, stage + 1)) {
    outputs_[key] = out;
  } else {
    activations_[{stage + 1, j}] = {out};
  }
}

void Pipeline::Step::backward(const Key& key) {
  const auto [stage, j] = key;
  const Tensor grad = take(gradients_, key);
  computes_since_ = now();
  const Tensor grad_in = pipeline_.module(stage).backward(grad);
  --in_flight_;
  if (pipeline_.is_first(stage)) return;
  if (pipeline_.schedule_.shape.are_apart(stage, stage - 1))
    input_grads_[key] = grad_in;
  else
    gradients_[{stage - 1, j}] = {grad_in};
}

// All messages of a step are started together.
void Pipeline::Step::exchange(std::span<const Action> messages) {
  std::vector<P2P> operations;
  for (const Action& message : messages) operations.push_back(operation_of(message));
  const std::vector<Work> works = batch_isend_irecv(operations, {}, at_);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [kind, stage, j] = messages[i];
    if (pipeline::is_receive(kind))
      (kind == ActionKind::receive_activation ? activations_ : gradients_)[{stage, j}] = {
          operations[i].tensor, works[i]};
    else
      sends_.emplace_back(works[i], operations[i].tensor);
  }
}

// After an error, what is to be sent may be missing.
P2P Pipeline::Step::operation_of(const Action& message) {
  const auto& [kind, stage, j] = message;
  const bool goes_up = kind == ActionKind::send_activation || kind == ActionKind::receive_gradient;
  const int peer = pipeline_.global_rank_of(goes_up ? stage + 1 : stage - 1);
  const Tensor& row = (goes_up ? pipeline_.row_out_ : pipeline_.row_in_).at(stage);
  Shape shape = row.shape();
  shape[0] = first_row(j + 1) - first_row(j);
  if (pipeline::is_receive(kind))
    return {P2P::irecv, empty(shape, row.dtype(), row.device()), peer, pipeline_.options_.group, tag_};
  auto& given = kind == ActionKind::send_activation ? outputs_ : input_grads_;
  const auto ready = given.extract({stage, j});
  return {P2P::isend, ready ? ready.mapped() : zeros(shape, row.dtype(), row.device()), peer,
          pipeline_.options_.group, tag_};
}

}  // namespace dist
