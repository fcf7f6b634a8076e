// GraphedStep: how batches get to the device (Slot, Input), the recording, and what is brought up to date
// before each launch.
#include "dist/nn/graphed_step.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "dist/core/device/recording.h"
#include "dist/core/device/registered_pages.h"
#include "dist/core/log.h"
#include "dist/core/shape.h"

namespace dist::nn {

namespace {

thread_local GraphedStep* recording_step = nullptr;

}  // namespace

// How a batch gets to the device.
namespace graphed {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Host memory from which the device copies while the host goes on.
class Slot {
 public:
  Slot(Device device, std::size_t bytes)
      : device_(device),
        memory_(std::aligned_alloc(whole_pages(1), whole_pages(bytes))),
        pages_(device, memory_.get(), whole_pages(bytes)),
        copied_(device) {}
  ~Slot() {
    try {
      copied_.synchronize();
    } catch (const std::exception& error) {  // the device is broken, and copies nothing any more
      log(LogLevel::info, "{}: {}", device_.str(), error.what());
    }
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  void copy(const Tensor& to, const Tensor& from) {
    if (!copied_.is_done()) copied_.synchronize();
    StreamHandle stream = current_stream(device_);
    std::memcpy(pages_.data(), from.raw(), from.nbytes());
    device_api(device_.type).copy(device_, stream, to.raw(), pages_.data(), from.nbytes());
    copied_.record(stream);
  }

 private:
  const Device device_;
  const std::unique_ptr<void, Free> memory_;
  const RegisteredPages pages_;
  Event copied_;
};

// One of the step's arguments.
class Input {
 public:
  Input(const Tensor& like, Device device) : value_(empty(like.shape(), like.dtype(), device)) {}

  const Tensor& value() const { return value_; }  // where the graph reads it
  bool is_like(const Tensor& other) const {
    return value_.shape() == other.shape() && value_.dtype() == other.dtype();
  }
  void load(const Tensor& from) {
    if (from.device() != cpu) {
      value_.copy_(from);
    } else if (from.numel() > 0) {
      auto& slot = slots_[next_++ % slots_.size()];
      if (!slot) slot = std::make_unique<Slot>(value_.device(), value_.nbytes());
      slot->copy(value_, from);
    }
  }

 private:
  Tensor value_;
  std::array<std::unique_ptr<Slot>, 2> slots_;  // one is filled while the other is read
  std::size_t next_ = 0;
};

}  // namespace graphed

class GraphedStep::Parts {
 public:
  Parts(Device device, Step step, GraphedStepOptions options)
      : device_(device), step_(std::move(step)), options_(options) {
    if (options.warm_up < 1)
      fail(Errc::invalid_argument, "GraphedStep: warm_up = {}, but at least one step comes before the graph",
           options.warm_up);
  }

  Loss take(GraphedStep& whole, const Tensor& inputs, const Tensor& targets) {
    if (device_ == cpu) return step_(inputs, targets);
    if (!fits(inputs, targets)) {
      if (inputs_ && options_.only_one_shape) refuse(inputs);
      if (work) return step_(inputs.to(device_), targets.to(device_));
      inputs_.emplace(inputs, device_);
      targets_.emplace(targets, device_);
      steps_ = 0;
    }
    inputs_->load(inputs);
    targets_->load(targets);
    if (!work && steps_++ < options_.warm_up) return step_(inputs_->value(), targets_->value()).clone();
    if (!work) record(whole);
    update_position();
    work->launch();
    return loss_->clone();
  }

  // All modules of a model have one position.
  const std::int64_t* step_of(const Position& position) {
    if (!position_) {
      position_ = &position;
      recorded_ = position;
      step_number_ = empty({1}, DType::i64, device_);
    }
    return static_cast<const std::int64_t*>(step_number_.raw());
  }

  std::optional<RecordedWork> work;

 private:
  bool fits(const Tensor& inputs, const Tensor& targets) const {
    return inputs_ && inputs_->is_like(inputs) && targets_->is_like(targets);
  }

  [[noreturn]] void refuse(const Tensor& inputs) const {
    fail(Errc::invalid_argument,
         "GraphedStep: this batch has shape {}, but the graph is for {}; leave out the last, smaller batch, "
         "or let it do without the graph (.only_one_shape = false)",
         to_string(inputs.shape()), to_string(inputs_->value().shape()));
  }

  void record(GraphedStep& whole) {
    const struct Scope {
      explicit Scope(GraphedStep* step) { recording_step = step; }
      ~Scope() { recording_step = nullptr; }
    } scope(&whole);
    Recording recording(device_, options_.has_collectives);
    loss_ = step_(inputs_->value(), targets_->value());
    work = recording.finish();
  }

  void update_position() {
    if (!position_) return;
    if (position_->seed != recorded_.seed || position_->first_row != recorded_.first_row)
      fail(Errc::invalid_argument,
           "GraphedStep: the position's seed or first row differs from that of the recorded step; only its "
           "step may change");
    step_number_.fill_(static_cast<double>(position_->step));
  }

  const Device device_;
  const Step step_;
  const GraphedStepOptions options_;
  int steps_ = 0;  // with this shape
  std::optional<graphed::Input> inputs_, targets_;
  std::optional<Loss> loss_;            // where the graph writes it
  const Position* position_ = nullptr;  // of a module; null: nothing depends on it
  Position recorded_;
  Tensor step_number_;  // [1] i64
};

GraphedStep::GraphedStep(Device device, Step step, GraphedStepOptions options)
    : parts_(std::make_unique<Parts>(device, std::move(step), options)) {}

GraphedStep::~GraphedStep() = default;

Loss GraphedStep::operator()(const Tensor& inputs, const Tensor& targets) {
  return parts_->take(*this, inputs, targets);
}

bool GraphedStep::is_recorded() const { return parts_->work.has_value(); }

std::size_t GraphedStep::graphs() const { return parts_->work ? parts_->work->graphs() : 0; }

void GraphedStep::launch_graphs_alone() {
  if (parts_->work) parts_->work->launch_graphs_alone();
}

GraphedStep* GraphedStep::recording() { return recording_step; }

const std::int64_t* GraphedStep::step_of(const Position& position) { return parts_->step_of(position); }

}  // namespace dist::nn
