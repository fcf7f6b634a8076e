#include "dist/backend/composed.h"

#include <cstdlib>

#include "dist/backend/entries.h"
#include "dist/backend/run_collective.h"
#include "dist/check/finding.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

std::string_view dist_algo() {
  const char* value = std::getenv("DIST_ALGO");
  return value ? value : "";
}

}  // namespace

ComposedBackend::ComposedBackend(std::string_view of, const BackendContext& context)
    : name_(of),
      context_(context),
      chooser_(context.members.size(), dist_algo()),
      thread_(context.endpoint,
              {[this] { context_.observer->thread_started(); },
               [this](const CollectiveWork& work) { run_collective_now(work.operation, work.algorithm); },
               [this](const CollectiveWork& work) { return abandon(work.operation); }}) {}

ComposedBackend::~ComposedBackend() {
  for (const auto& message : thread_.messages()) message->give_up("its group was destroyed");
}

std::exception_ptr ComposedBackend::abandon(const Operation& operation) {
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: its group was destroyed before it could run",
                          context_.members[context_.rank], describe(operation)));
  return context_.observer->failed(operation, std::make_exception_ptr(std::move(error)));
}

bool ComposedBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                               std::string* why) const {
  std::string reason;
  const bool reduces = kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
  if (device != DeviceType::cpu) {
    reason = fmt::format("the {} backend works on CPU tensors; copy it with .to(dist::cpu)", name_);
  } else if (reduces && !is_defined(op, dtype)) {
    reason = fmt::format("{} is not defined for {}", dist::name(op), dist::name(dtype));
  }
  if (why) *why = reason;
  return reason.empty();
}

std::string ComposedBackend::algorithm_for(const Operation& operation) const {
  return is_collective(operation.kind) ? std::string(chooser_.pick(operation).name) : std::string();
}

std::unique_ptr<Transport> ComposedBackend::open(const Operation& operation, std::string label) {
  const bool message = !is_collective(operation.kind);
  TransportOptions options;
  options.members = context_.members;
  // A receive meets a send, so both carry the same code; its dtype must fit.
  options.channel = {context_.context, message ? operation.tag : operation.sequence,
                     opcode_of(message ? OpKind::send : operation.kind, operation.dtype()), message};
  options.label = {std::move(label), operation.sequence, operation.what(), operation.where};
  options.mode = message ? context_.send_mode : SendMode::eager;
  options.deadline = Deadline::after(operation.timeout);
  return context_.endpoint->open(std::move(options));
}

int ComposedBackend::run(const Operation& operation) {
  if (!is_collective(operation.kind)) return run_message(operation);
  const AlgorithmEntry& algorithm = chooser_.pick(operation);
  if (thread_.is_idle()) {
    run_collective_now(operation, algorithm);
  } else {
    auto work = std::make_shared<CollectiveWork>(operation, algorithm);
    thread_.submit(work);
    work->wait(no_timeout);
  }
  return -1;
}

int ComposedBackend::run_message(const Operation& operation) {
  context_.observer->starting(operation, {});
  int peer = -1;
  try {
    const auto transport = open(operation, std::string(dist::name(operation.kind)));
    peer = start_transfer(*transport, operation).wait();
  } catch (...) {
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  context_.observer->completed(operation);
  return operation.kind == OpKind::recv ? peer : -1;
}

void ComposedBackend::run_collective_now(const Operation& operation, const AlgorithmEntry& algorithm) {
  bool started = false;
  try {
    if (!broken_by_.empty()) {
      fail(Errc::aborted, "rank {}: {} was given up: an earlier collective of this group failed: {}",
           context_.members[context_.rank], describe(operation), broken_by_);
    }
    context_.observer->starting(operation, algorithm.name);
    started = true;
    const auto transport = open(operation, fmt::format("{}_{}", algorithm.name, dist::name(operation.kind)));
    run_collective(*transport, operation, algorithm.run);
  } catch (const std::exception& error) {
    if (started && broken_by_.empty()) broken_by_ = check::without_finding(error.what());
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  context_.observer->completed(operation);
}

std::shared_ptr<WorkState> ComposedBackend::submit(Operation operation) {
  if (is_collective(operation.kind)) {
    const AlgorithmEntry& algorithm = chooser_.pick(operation);
    auto work = std::make_shared<CollectiveWork>(std::move(operation), algorithm);
    thread_.submit(work);
    return work;
  }
  context_.observer->starting(operation, {});
  std::unique_ptr<Transport> transport;
  try {
    transport = open(operation, std::string(dist::name(operation.kind)));
  } catch (...) {
    auto error = context_.observer->failed(operation, std::current_exception());
    return std::make_shared<MessageWork>(std::move(operation), std::move(error));
  }
  auto work = std::make_shared<MessageWork>(std::move(operation), std::move(transport), context_.endpoint,
                                            context_.observer, context_.members);
  if (!work->is_completed()) thread_.look_after(work);
  return work;
}

std::vector<std::string> ComposedBackend::finish() {
  thread_.wait_idle();
  std::vector<std::string> given_up;
  for (const auto& message : thread_.messages()) {
    if (message->operation.kind == OpKind::send) {
      try {
        message->wait(no_timeout);
      } catch (const Error&) {
        // Kept in its Work.
      }
    } else if (message->give_up("its group was destroyed and nothing had arrived")) {
      given_up.push_back(describe(message->operation));
    }
  }
  return given_up;
}

std::vector<std::shared_ptr<WorkState>> Backend::submit_batch(std::vector<Operation> operations) {
  std::vector<std::shared_ptr<WorkState>> works;
  works.reserve(operations.size());
  for (auto& operation : operations) works.push_back(submit(std::move(operation)));
  return works;
}

namespace sim {

namespace {
constexpr const char* not_here = "this rank is not simulated; use sim::run() or ./distlab sim";
}

bool available(std::string* why) {
  const bool is_simulated = Tasking::current() != nullptr;
  if (why) *why = is_simulated ? "" : not_here;
  return is_simulated;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  if (!available(nullptr)) fail(Errc::unsupported, "{}", not_here);
  return std::make_unique<ComposedBackend>("sim", context);
}

}  // namespace sim

namespace host {

bool available(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  return std::make_unique<ComposedBackend>("host", context);
}

}  // namespace host
}  // namespace dist
