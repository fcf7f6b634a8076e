#include "dist/backend/ordered.h"

#include "dist/check/finding.h"
#include "dist/core/fail.h"
#include "dist/transport/opcode.h"

namespace dist {

OrderedBackend::OrderedBackend(std::string_view of, const BackendContext& context,
                               std::shared_ptr<Mover> mover)
    : context_(context), name_(of), mover_(std::move(mover)) {
  thread_.emplace(mover_, ProgressThread::Callbacks{
                              [this] { context_.observer->thread_started(); },
                              [this](const CollectiveWork& work) { run_collective_now(work.operation); },
                              [this](const CollectiveWork& work) { return abandon(work.operation); }});
}

void OrderedBackend::stop() {
  for (const auto& message : thread_->messages()) message->give_up("its group was destroyed");
  thread_.reset();
}

std::exception_ptr OrderedBackend::abandon(const Operation& operation) {
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: its group was destroyed before it could run",
                          context_.members[context_.rank], describe(operation)));
  return context_.observer->failed(operation, std::make_exception_ptr(std::move(error)));
}

bool OrderedBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                              std::string* why) const {
  const bool reduces = kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
  if (device != DeviceType::cpu) {
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

TransportOptions OrderedBackend::options_of(const Operation& operation, std::string label) const {
  TransportOptions options = without_deadline(operation, std::move(label));
  options.deadline = Deadline::after(operation.timeout);
  return options;
}

TransportOptions OrderedBackend::without_deadline(const Operation& operation, std::string label) const {
  const bool message = !is_collective(operation.kind);
  TransportOptions options;
  options.members = context_.members;
  // A receive meets a send, so both carry the same code; its dtype must fit.
  options.channel = {context_.context, message ? operation.tag : operation.sequence,
                     opcode_of(message ? OpKind::send : operation.kind, operation.dtype()), message};
  options.label = {std::move(label), operation.sequence, operation.amount(), operation.where};
  options.mode = message ? context_.send_mode : SendMode::eager;
  options.bytes = static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
  return options;
}

int OrderedBackend::run(const Operation& operation) {
  if (!is_collective(operation.kind)) return run_message(operation);
  if (thread_->is_idle()) {
    run_collective_now(operation);
  } else {
    auto work = std::make_shared<CollectiveWork>(operation);
    thread_->submit(work);
    work->wait(no_timeout);
  }
  return -1;
}

int OrderedBackend::carry(const Operation& operation) {
  const auto transport = open_message(operation);
  return start(*transport, message_of(operation)).wait();
}

int OrderedBackend::run_message(const Operation& operation) {
  context_.observer->starting(operation, {});
  int peer = -1;
  try {
    peer = carry(operation);
  } catch (...) {
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  context_.observer->completed(operation);
  return operation.kind == OpKind::recv ? peer : -1;
}

void OrderedBackend::run_collective_now(const Operation& operation) {
  bool may_differ = false;  // the ranks may not be in step any more if this fails
  try {
    if (!broken_by_.empty()) {
      fail(Errc::aborted, "rank {}: {} was given up: an earlier collective of this group failed: {}",
           context_.members[context_.rank], describe(operation), broken_by_);
    }
    if (!prepared_) {
      may_differ = true;
      prepare(operation);
      prepared_ = true;
      may_differ = false;
    }
    context_.observer->starting(operation, choose(operation));
    may_differ = true;
    execute(operation);
  } catch (const std::exception& error) {
    if (may_differ && broken_by_.empty()) broken_by_ = check::without_finding(error.what());
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  context_.observer->completed(operation);
}

std::shared_ptr<WorkState> OrderedBackend::submit(Operation operation) {
  if (is_collective(operation.kind)) {
    auto work = std::make_shared<CollectiveWork>(std::move(operation));
    thread_->submit(work);
    return work;
  }
  context_.observer->starting(operation, {});
  std::unique_ptr<Transport> transport;
  try {
    transport = open_message(operation);
  } catch (...) {
    auto error = context_.observer->failed(operation, std::current_exception());
    return std::make_shared<MessageWork>(std::move(operation), std::move(error));
  }
  auto work = std::make_shared<MessageWork>(std::move(operation), std::move(transport), mover_,
                                            context_.observer, context_.members);
  if (!work->is_completed()) thread_->look_after(work);
  return work;
}

std::vector<std::string> OrderedBackend::finish() {
  thread_->wait_idle();
  std::vector<std::string> given_up;
  for (const auto& message : thread_->messages()) {
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

}  // namespace dist
