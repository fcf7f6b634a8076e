// What the backends of device tensors share. mark() and enqueue() put a collective on the group's stream,
// after the caller's work; choose() and execute() run it there or through the host; carry(), submit_message()
// and submit_batch() carry messages (direct/device/device_messages.h); begin_apart(), end_apart() and
// fail_apart() are for what is enqueued together with other backends' work, begin_in_graph() and
// end_in_graph() for what is launched in a graph; give_up(), stop() and leave() end the group's work.
#include "dist/backend/stream_backend.h"

#include <map>
#include <utility>

#include "dist/backend/message_work.h"
#include "dist/backend/staging.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {

namespace {

constexpr Timeout look_again = std::chrono::microseconds(500);  // how often to poll what is under way

// Messages on it are polled, even if those of the endpoint itself move alone.
class PolledMover final : public Mover {
 public:
  explicit PolledMover(std::shared_ptr<Mover> inner) : inner_(std::move(inner)) {}
  void progress(Timeout patience) override { inner_->progress(patience); }
  void interrupt() override { inner_->interrupt(); }

 private:
  const std::shared_ptr<Mover> inner_;
};

bool on_device(const Operation& operation) { return operation.device().type != DeviceType::cpu; }

}  // namespace

StreamBackend::StreamBackend(std::string_view of, const BackendContext& context)
    : OrderedBackend(of, context, context.endpoint),
      host_(context_),
      messages_(context.endpoint),
      apart_(std::in_place, std::make_shared<PolledMover>(context.endpoint),
             ProgressThread::Callbacks{[this] { context_.observer->thread_started(); }, {}, {}}),
      watch_({.started = [this] { context_.observer->thread_started(); },
              .wait_a_little = [this] { wait_a_little(); },
              .look =
                  [this](const Operation& operation) {
                    breakage_.refuse(context_, operation);
                    look(operation);
                  },
              .completed = [this](const Operation& operation) { context_.observer->completed(operation); },
              .failed = [this](const Operation& operation,
                               const std::exception_ptr& error) { give_up(operation, error); },
              .detach = [this] { detach(); }}) {}

// Later calls are refused first, however long the rest takes. No call throws the error itself, so later calls
// also say what the observer finds out about it.
void StreamBackend::give_up(const Operation& operation, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& why) {
    breakage_.set(why);
    detach();
    try {
      std::rethrow_exception(context_.observer->failed(operation, error));
    } catch (const std::exception& told) {
      breakage_.explain(why, told);
    }
  }
}

void StreamBackend::stop() {
  OrderedBackend::stop();
  apart_.reset();
  watch_.stop();
}

bool StreamBackend::is_at_rest() {
  wait_idle();
  watch_.wait_idle();
  return connected_ && !breakage_;
}

std::string StreamBackend::other_device(Device device) const {
  if (!device_ || *device_ == device) return {};
  return fmt::format("its tensors are on {}, but this group works on {}; use one device per rank",
                     device.str(), device_->str());
}

bool StreamBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device,
                             std::string* why) const {
  if (is_collective(kind) && device.type != DeviceType::cpu) {
    if (std::string other = other_device(device); !other.empty()) {
      if (why) *why = std::move(other);
      return false;
    }
  }
  return OrderedBackend::supports(kind, op, dtype, cpu, why);
}

std::string StreamBackend::algorithm_for(const Operation& operation) const {
  const Plan here = on_device(operation) ? plan_of(operation) : Plan{};
  return here.algorithm.empty() ? host_.algorithm_for(operation) : std::string(here.algorithm);
}

void StreamBackend::watch_members(const Operation& operation) {
  TransportOptions options = options_of(context_, operation, "waiting for the device", liveness_tag);
  options.deadline = Deadline::never();
  liveness_probe_ = std::make_unique<LivenessProbe>(*context_.endpoint, std::move(options));
}

void StreamBackend::wait_a_little() {
  if (!liveness_probe_) return dist::sleep(look_again);
  context_.endpoint->progress(look_again);  // this notices a death
  liveness_probe_->check();
}

void StreamBackend::meet_on_host(Timeout timeout) {
  Operation meeting;
  meeting.sequence = goodbye_tag;
  meeting.timeout = timeout;
  host_.prepare(meeting);
  (void)host_.choose(meeting);
  host_.execute(meeting);
}

std::unique_ptr<Transport> StreamBackend::open_on_device(const Operation& operation,
                                                         std::shared_ptr<CopyBatch> batch) {
  return messages_.open(options_of(context_, operation, std::string(dist::name(operation.kind))),
                        operation.device(), std::move(batch));
}

int StreamBackend::carry(const Operation& operation) {
  if (!on_device(operation)) return OrderedBackend::carry(operation);
  const auto net = open_on_device(operation);
  return dist::start(*net, message_of(operation)).wait();
}

std::shared_ptr<WorkState> StreamBackend::submit_message(Operation operation) {
  if (!on_device(operation)) return OrderedBackend::submit_message(std::move(operation));
  return submit_in(std::move(operation), nullptr);
}

std::shared_ptr<WorkState> StreamBackend::submit_in(Operation operation, std::shared_ptr<CopyBatch> batch) {
  operation.own_tensors();
  return start_message(
      std::move(operation), [&](const Operation& of) { return open_on_device(of, batch); }, *apart_);
}

std::vector<std::shared_ptr<MessageWork>> StreamBackend::messages() {
  auto all = OrderedBackend::messages();
  for (auto& message : apart_->messages()) all.push_back(std::move(message));
  return all;
}

// The receives of each device are a batch of their own.
std::vector<std::shared_ptr<WorkState>> StreamBackend::submit_batch(std::vector<Operation> operations) {
  const auto is_receive = [this](const Operation& operation) {
    return on_device(operation) && operation.kind == OpKind::recv && !is_elsewhere(operation);
  };
  std::map<int, int> receives;  // by the device's index
  for (const Operation& operation : operations)
    if (is_receive(operation)) ++receives[operation.device().index];
  std::map<int, std::shared_ptr<CopyBatch>> batches;
  for (const auto& [index, count] : receives) batches[index] = messages_.batch(cuda(index), count);
  std::vector<std::shared_ptr<WorkState>> works;
  for (Operation& operation : operations) {
    const bool receives_here = is_receive(operation);
    const auto batch = receives_here ? batches[operation.device().index] : nullptr;
    works.push_back(receives_here ? submit_in(std::move(operation), batch) : submit(std::move(operation)));
  }
  for (const auto& [index, batch] : batches) batch->seal();
  return works;
}

std::shared_ptr<StreamEvents> StreamBackend::mark(const Operation& operation) {
  if (!on_device(operation)) return nullptr;
  const Device device = operation.device();
  if (const std::string other = other_device(device); !other.empty())  // possible for a message
    fail(Errc::invalid_argument, "rank {}: {}: {}", context_.members[context_.rank], describe(operation),
         other);
  if (!device_) {  // only once, because the group's thread reads both
    stream_.emplace(device);
    device_ = device;
  }
  auto points = points_.take(device);
  points->ready.record(current_stream(device));
  return points;
}

void StreamBackend::prepare(const Operation& operation) {
  if (!on_device(operation)) return host_.prepare(operation);
  if (!connected_) {
    const StreamGuard guard(*device_, stream_->handle());
    connect(operation);
    connected_ = true;
  }
  if (plan_of(operation).algorithm.empty()) host_.prepare(operation);
}

Plan StreamBackend::choose(const Operation& operation) {
  const Plan here = on_device(operation) ? plan_of(operation) : Plan{};
  return here.algorithm.empty() ? host_.choose(operation) : here;
}

void StreamBackend::execute(const Operation& operation) {
  if (operation.kind == OpKind::barrier) watch_.wait_idle();  // comes after all that was enqueued
  host_.execute(operation);
}

void StreamBackend::enqueue(const Operation& operation, const std::shared_ptr<StreamEvents>& points) {
  const StreamGuard guard(*device_, stream_->handle());
  points->ready.make_wait(*device_, stream_->handle());
  if (plan_of(operation).algorithm.empty()) {
    if (!room_) room_.emplace(*device_);
    StagedOperation staged(operation, &*room_);
    host_.execute(staged.on_host());
    staged.copy_back();
  } else {
    start(operation);
  }
  points->done.record(stream_->handle());
  watch_.add(operation, points);
}

void StreamBackend::begin_apart(const Operation& operation, const StreamEvents& points) {
  announce(operation);
  points.ready.make_wait(*device_, stream_->handle());
}

void StreamBackend::announce(const Operation& operation) {
  try {
    breakage_.refuse(context_, operation);
    context_.observer->starting(operation, plan_of(operation));
  } catch (...) {
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
}

void StreamBackend::begin_in_graph(std::span<const Operation> operations) {
  wait_idle();
  auto points = points_.take(*device_);
  points->ready.record(stream_->handle());
  points->ready.make_wait(*device_, current_stream(*device_));
  for (const Operation& operation : operations) announce(operation);
  points_of_graph_ = std::move(points);
}

// All of them end with their graph.
void StreamBackend::end_in_graph(std::span<const Operation> operations) {
  const auto points = std::exchange(points_of_graph_, nullptr);
  points->done.record(current_stream(*device_));
  points->done.make_wait(*device_, stream_->handle());
  for (const Operation& operation : operations) watch_.add(operation, points);
}

std::exception_ptr StreamBackend::end_apart(const Operation& operation,
                                            const std::shared_ptr<StreamEvents>& points) {
  try {
    points->done.record(stream_->handle());
    watch_.add(operation, points);
    return nullptr;
  } catch (...) {
    return fail_apart(operation, std::current_exception());
  }
}

std::exception_ptr StreamBackend::fail_apart(const Operation& operation, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& why) {
    breakage_.set(why);
  }
  detach();
  return context_.observer->failed(operation, error);
}

void StreamBackend::leave() {
  watch_.wait_idle();
  if (!connected_ || breakage_) return;
  try {
    const StreamGuard guard(*device_, stream_->handle());
    part();
  } catch (const std::exception& error) {
    log(LogLevel::info, "leaving the group on {}: {}", device_->str(), error.what());
  }
}

}  // namespace dist
