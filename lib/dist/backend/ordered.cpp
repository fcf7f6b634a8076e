// The order of a group's operations. run() and submit() send collectives through the progress thread, or run
// them at once when it is idle; messages are carried directly (messages.h). finish() waits for what is
// pending.
#include "dist/backend/ordered.h"

#include "dist/core/fail.h"
#include "dist/trace/profiler.h"

namespace dist {
namespace {

// Runs part(), whose operation has been recorded already: throws what the observer makes of its failure.
template <class Part>
auto noting_failure(const BackendContext& context, const Operation& operation, const Part& part) {
  try {
    return part();
  } catch (...) {
    std::rethrow_exception(context.observer->failed(operation, std::current_exception()));
  }
}

}  // namespace

OrderedBackend::OrderedBackend(std::string_view of, const BackendContext& context,
                               std::shared_ptr<Mover> mover)
    : context_(context), name_(of), mover_(std::move(mover)) {
  thread_.emplace(mover_,
                  ProgressThread::Callbacks{
                      [this] { context_.observer->thread_started(); },
                      [this](const CollectiveWork& work) { run_collective_now(work.operation, work.points); },
                      [this](const CollectiveWork& work) { return abandon(work.operation); }});
}

void OrderedBackend::stop() {
  constexpr Timeout patience = std::chrono::seconds(10);
  const Deadline deadline = Deadline::after(patience);  // for other threads that wait for these messages
  for (const auto& message : messages()) message->cancel("its group was destroyed", deadline);
  thread_.reset();
}

std::exception_ptr OrderedBackend::abandon(const Operation& operation) {
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: its group was destroyed before it could run",
                          context_.members[context_.rank], describe(operation)));
  return context_.observer->failed(operation, std::make_exception_ptr(std::move(error)));
}

bool OrderedBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device,
                              std::string* why) const {
  const bool reduces = kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
  if (device.type != DeviceType::cpu) {
    if (why) *why = fmt::format("the {} backend works on CPU tensors; copy it with .to(dist::cpu)", name_);
    return false;
  }
  if (reduces && !is_defined(op, dtype)) {
    if (why) *why = fmt::format("{} is not defined for {}", dist::name(op), dist::name(dtype));
    return false;
  }
  if (why) why->clear();
  return true;
}

int OrderedBackend::run(const Operation& operation) {
  if (!is_ordered(operation)) {
    Backend* const lane = noting_failure(context_, operation, [&] { return lane_of(operation); });
    return lane ? lane->run(operation) : run_message(operation);
  }
  const auto points = noting_failure(context_, operation, [&] { return mark(operation); });
  if (!thread_->is_idle()) {
    auto work = std::make_shared<CollectiveWork>(operation, points);
    thread_->submit(work);
    work->wait(no_timeout);
  } else {
    run_collective_now(operation, points);
    if (points) points->done.make_wait(points->device, current_stream(points->device));
  }
  return operation.kind == OpKind::recv ? operation.peer : -1;
}

int OrderedBackend::run_message(const Operation& operation) {
  const ProfilerRange range([&] { return operation.doing(); });
  const int peer = noting_failure(context_, operation, [&] { return carry(operation); });
  context_.observer->completed(operation);
  return operation.kind == OpKind::recv ? peer : -1;
}

void OrderedBackend::run_collective_now(const Operation& operation,
                                        const std::shared_ptr<StreamEvents>& points) {
  const ProfilerRange range([&] { return operation.doing(); });
  bool may_differ = false;  // whether the ranks may be out of step if this fails
  try {
    breakage_.refuse(context_, operation);
    may_differ = true;
    prepare(operation);
    may_differ = false;
    context_.observer->starting(operation, choose(operation));
    may_differ = true;
    points ? enqueue(operation, points) : execute(operation);
  } catch (const std::exception& error) {
    if (may_differ) {
      breakage_.set(error);
      detach();
    }
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  if (!points) context_.observer->completed(operation);
}

std::shared_ptr<WorkState> OrderedBackend::submit(Operation operation) {
  if (!is_ordered(operation)) {
    Backend* const lane = noting_failure(context_, operation, [&] { return lane_of(operation); });
    return lane ? lane->submit(std::move(operation)) : submit_message(std::move(operation));
  }
  auto points = noting_failure(context_, operation, [&] { return mark(operation); });
  const int source = operation.kind == OpKind::recv ? context_.members[0] : -1;  // a lane has two: from, to
  auto work = std::make_shared<CollectiveWork>(std::move(operation), std::move(points), source);
  thread_->submit(work);
  return work;
}

std::vector<std::string> OrderedBackend::finish() {
  finish_lanes();
  thread_->wait_idle();
  leave();
  std::vector<std::string> given_up = end_messages(messages());
  take_leave_of_peers();
  return given_up;
}

std::vector<std::shared_ptr<WorkState>> Backend::submit_batch(std::vector<Operation> operations) {
  std::vector<std::shared_ptr<WorkState>> works;
  works.reserve(operations.size());
  for (auto& operation : operations) works.push_back(submit(std::move(operation)));
  return works;
}

}  // namespace dist
