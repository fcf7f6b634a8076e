#include "dist/backend/device_backend.h"

#include <utility>

#include "dist/backend/device_algorithms.h"
#include "dist/backend/device_work.h"
#include "dist/backend/entries.h"
#include "dist/backend/run_direct.h"
#include "dist/backend/staging.h"
#include "dist/check/finding.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {

namespace {

// Of the channels of a group: no collective has so high a number, and ComposedBackend uses the first of
// these.
constexpr std::uint64_t device_peers_tag = (std::uint64_t{1} << 61) + 1;
constexpr std::uint64_t lifeline_tag = device_peers_tag + 1;
constexpr Timeout look_again = std::chrono::microseconds(500);  // at what is under way
constexpr Timeout leave_timeout = std::chrono::seconds(5);

class FixedLabel final : public RoundLabel {
 public:
  explicit FixedLabel(TransportOptions options) : options_(std::move(options)) {}
  TransportOptions options() const override { return options_; }

 private:
  TransportOptions options_;
};

}  // namespace

DeviceBackend::DeviceBackend(const BackendContext& context)
    : context_(context),
      host_("host", context),
      watch_({.started = [this] { context_.observer->thread_started(); },
              .wait_a_little =
                  [this] {
                    if (!lifeline_) return dist::sleep(look_again);
                    context_.endpoint->progress(look_again);  // where a death is noticed
                    lifeline_->check();
                  },
              .completed = [this](const Operation& operation) { context_.observer->completed(operation); },
              .failed =
                  [this](const Operation& operation, std::exception_ptr error) {
                    if (peers_) peers_->release();
                    try {
                      std::rethrow_exception(context_.observer->failed(operation, std::move(error)));
                    } catch (const std::exception& told) {
                      break_by(told);
                    }
                  }}),
      thread_(context.endpoint, {[this] { context_.observer->thread_started(); },
                                 [this](const CollectiveWork& work) { run_now(work.operation); },
                                 [this](const CollectiveWork& work) { return abandon(work.operation); }}) {}

DeviceBackend::~DeviceBackend() = default;

bool DeviceBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType,
                             std::string* why) const {
  return host_.supports(kind, op, dtype, DeviceType::cpu, why);
}

std::string DeviceBackend::algorithm_for(const Operation& operation) const {
  const bool on_device = operation.device().type != DeviceType::cpu;
  const DeviceAlgorithm* const direct = on_device ? device_algorithm(operation) : nullptr;
  return direct ? std::string(direct->name) : host_.algorithm_for(operation);
}

TransportOptions DeviceBackend::options_of(const Operation& operation, std::string label) const {
  TransportOptions options;
  options.members = context_.members;
  options.channel = {context_.context, device_peers_tag, 0, false};
  options.label = {std::move(label), operation.sequence, operation.amount(), operation.where};
  options.deadline = Deadline::after(operation.timeout);
  options.bytes = static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
  return options;
}

std::exception_ptr DeviceBackend::abandon(const Operation& operation) {
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: its group was destroyed before it could run",
                          context_.members[context_.rank], describe(operation)));
  return context_.observer->failed(operation, std::make_exception_ptr(std::move(error)));
}

// The points of an operation that is about to be run or submitted by this thread; null for the CPU's.
std::shared_ptr<StreamPoints> DeviceBackend::expect(const Operation& operation) {
  const Device device = operation.device();
  if (device.type == DeviceType::cpu) return nullptr;
  if (device_ && *device_ != device)
    fail(Errc::invalid_argument,
         "rank {}: {} has tensors on {}, but this group works on {}; use one device a rank",
         context_.members[context_.rank], describe(operation), device.str(), device_->str());
  if (!stream_) stream_.emplace(device);
  device_ = device;
  auto points = std::make_shared<StreamPoints>(device);
  points->ready.record(current_stream(device));
  const std::scoped_lock lock(mutex_);
  points_[operation.sequence] = points;
  return points;
}

std::shared_ptr<StreamPoints> DeviceBackend::take_points(const Operation& operation) {
  const std::scoped_lock lock(mutex_);
  auto found = points_.extract(operation.sequence);
  return found ? std::move(found.mapped()) : nullptr;
}

void DeviceBackend::break_by(const std::exception& error) {
  const std::scoped_lock lock(mutex_);
  if (broken_by_.empty()) broken_by_ = check::without_finding(error.what());
}

std::string DeviceBackend::broken_by() {
  const std::scoped_lock lock(mutex_);
  return broken_by_;
}

void DeviceBackend::refuse_if_broken(const Operation& operation) {
  const std::string cause = broken_by();
  if (cause.empty()) return;
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: an earlier collective of this group failed: {}",
                          context_.members[context_.rank], describe(operation), cause));
  std::rethrow_exception(context_.observer->failed(operation, std::make_exception_ptr(std::move(error))));
}

int DeviceBackend::run(const Operation& operation) {
  const bool on_device = operation.device().type != DeviceType::cpu;
  if (!is_collective(operation.kind)) {
    if (!on_device) return host_.run(operation);
    StagedOperation staged(operation);
    const int source = host_.run(staged.on_host());
    staged.copy_back();
    return source;
  }
  const auto points = expect(operation);
  if (thread_.is_idle()) {
    run_now(operation);
  } else {
    auto work = std::make_shared<CollectiveWork>(operation);
    thread_.submit(work);
    work->wait(no_timeout);
  }
  if (points) points->done.make_wait(points->device, current_stream(points->device));
  return -1;
}

std::shared_ptr<WorkState> DeviceBackend::submit(Operation operation) {
  const bool on_device = operation.device().type != DeviceType::cpu;
  if (is_collective(operation.kind)) {
    auto points = expect(operation);
    auto work = std::make_shared<CollectiveWork>(std::move(operation));
    thread_.submit(work);
    if (!points) return work;
    return std::make_shared<StreamWork>(std::move(work), std::move(points));
  }
  if (!on_device) return host_.submit(std::move(operation));
  StagedOperation staged(operation);
  auto host = host_.submit(staged.on_host());
  return std::make_shared<StagedWork>(std::move(staged), std::move(host));
}

void DeviceBackend::run_now(const Operation& operation) {
  if (operation.device().type != DeviceType::cpu) return run_on_stream(operation);
  if (operation.kind == OpKind::barrier) watch_.wait_idle();  // it is behind all that was enqueued
  host_.run(operation);
}

void DeviceBackend::run_on_stream(const Operation& operation) {
  const auto points = take_points(operation);
  refuse_if_broken(operation);
  const StreamGuard guard(*device_, stream_->handle());
  points->ready.make_wait(*device_, stream_->handle());
  connect(operation);
  if (peers_ && device_algorithm(operation)) return run_direct_on_stream(operation, points);
  StagedOperation staged(operation);
  host_.run(staged.on_host());
  staged.copy_back();
}

// Every rank comes here with the group's first collective on a device, and all get the same answer.
void DeviceBackend::connect(const Operation& operation) {
  if (hosts_asked_) return;
  hosts_asked_ = true;
  try {
    const TransportOptions options = options_of(operation, std::string(dist::name(operation.kind)));
    hosts_ = context_.endpoint->map_peers(options);
    if (!hosts_) return;
    peers_ = DevicePeers::connect(*hosts_, *device_, FixedLabel(options));
  } catch (const std::exception& error) {
    break_by(error);
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  if (!peers_ || peers_->sync() != SyncMode::flags) return;
  TransportOptions options = options_of(operation, "waiting for the device");
  options.channel.tag = lifeline_tag;
  options.deadline = Deadline::never();
  lifeline_ = std::make_unique<Lifeline>(*context_.endpoint, std::move(options));
}

void DeviceBackend::run_direct_on_stream(const Operation& operation,
                                         const std::shared_ptr<StreamPoints>& points) {
  bool may_differ = false;  // the ranks may not be in step any more if this fails
  try {
    const DeviceAlgorithm& algorithm = *device_algorithm(operation);
    context_.observer->starting(operation, {algorithm.name, true});
    may_differ = true;
    const FixedLabel label(
        options_of(operation, fmt::format("{}_{}", algorithm.name, dist::name(operation.kind))));
    run_direct(*peers_, operation, algorithm.run, label);
    points->done.record(stream_->handle());
  } catch (const std::exception& error) {
    if (may_differ) {
      break_by(error);
      peers_->release();
    }
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  watch_.add(operation, points);
}

std::vector<std::string> DeviceBackend::finish() {
  thread_.wait_idle();
  watch_.wait_idle();
  leave();
  return host_.finish();
}

// Then the others need nothing of this rank's any more.
void DeviceBackend::leave() {
  if (!peers_ || !broken_by().empty()) return;
  try {
    const StreamGuard guard(*device_, stream_->handle());
    Operation leaving;
    leaving.timeout = leave_timeout;
    peers_->leave(FixedLabel(options_of(leaving, "leaving the group")));
  } catch (const std::exception& error) {
    log(LogLevel::info, "device memory that other ranks may still look at is kept: {}", error.what());
  }
}

namespace cuda_backend {

bool available(std::string* why) {
  try {
    if (device_api(DeviceType::cuda).count() == 0) fail(Errc::unsupported, "there is no cuda device");
    if (why) why->clear();
    return true;
  } catch (const Error& error) {
    if (why) *why = fmt::format("{}; use backend \"host\"", error.what());
    return false;
  }
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  std::string why;
  if (!available(&why)) fail(Errc::unsupported, "{}", why);
  return std::make_unique<DeviceBackend>(context);
}

}  // namespace cuda_backend
}  // namespace dist
