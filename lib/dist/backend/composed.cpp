#include "dist/backend/composed.h"

#include <cstdlib>

#include "dist/backend/entries.h"
#include "dist/backend/run_collective.h"
#include "dist/backend/run_direct.h"
#include "dist/check/finding.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

std::string_view dist_algo() {
  const char* value = std::getenv("DIST_ALGO");
  return value ? value : "";
}

// Of the channels of a group: no collective has so high a number.
constexpr std::uint64_t map_peers_tag = std::uint64_t{1} << 61;

template <class Make>
class OperationLabel final : public RoundLabel {
 public:
  explicit OperationLabel(const Make& make) : make_(make) {}
  TransportOptions options() const override { return make_(); }

 private:
  const Make& make_;
};

}  // namespace

ComposedBackend::ComposedBackend(std::string_view of, const BackendContext& context)
    : name_(of),
      context_(context),
      chooser_({.ranks = context.members.size(), .nodes = context.nodes}, context.costs, dist_algo()),
      thread_(context.endpoint, {[this] { context_.observer->thread_started(); },
                                 [this](const CollectiveWork& work) { run_collective_now(work.operation); },
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

std::string ComposedBackend::algorithm_for(const Operation& operation) const {
  return is_collective(operation.kind) ? std::string(chooser_.pick(operation, peers_ != nullptr).name)
                                       : std::string();
}

TransportOptions ComposedBackend::options_of(const Operation& operation, std::string label) const {
  const bool message = !is_collective(operation.kind);
  TransportOptions options;
  options.members = context_.members;
  // A receive meets a send, so both carry the same code; its dtype must fit.
  options.channel = {context_.context, message ? operation.tag : operation.sequence,
                     opcode_of(message ? OpKind::send : operation.kind, operation.dtype()), message};
  options.label = {std::move(label), operation.sequence, operation.what(), operation.where};
  options.mode = message ? context_.send_mode : SendMode::eager;
  options.deadline = Deadline::after(operation.timeout);
  options.bytes = static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
  return options;
}

std::unique_ptr<Transport> ComposedBackend::open(const Operation& operation, std::string label) const {
  return context_.endpoint->open(options_of(operation, std::move(label)));
}

int ComposedBackend::run(const Operation& operation) {
  if (!is_collective(operation.kind)) return run_message(operation);
  if (thread_.is_idle()) {
    run_collective_now(operation);
  } else {
    auto work = std::make_shared<CollectiveWork>(operation);
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

// Every rank comes here with the group's first collective, and all get the same answer.
PeerMemory* ComposedBackend::peers_for(const Operation& operation) {
  if (!asked_peers_) {
    TransportOptions options = options_of(operation, std::string(dist::name(operation.kind)));
    options.channel.tag = map_peers_tag;
    options.channel.opcode = 0;  // ranks that call different collectives learn it from the collectives
    peers_ = context_.endpoint->map_peers(std::move(options));
    asked_peers_ = true;
  }
  // Contributions are multiplied first, in memory of their own.
  return operation.op.kind() == ReduceOp::Kind::premul_sum ? nullptr : peers_.get();
}

void ComposedBackend::run_collective_now(const Operation& operation) {
  bool may_differ = false;  // the ranks may not be in step any more if this fails
  try {
    if (!broken_by_.empty()) {
      fail(Errc::aborted, "rank {}: {} was given up: an earlier collective of this group failed: {}",
           context_.members[context_.rank], describe(operation), broken_by_);
    }
    may_differ = !asked_peers_;
    PeerMemory* const peers = peers_for(operation);
    const AlgorithmEntry& algorithm = chooser_.pick(operation, peers != nullptr);
    may_differ = false;
    const bool is_direct = peers != nullptr && algorithm.direct != nullptr;
    context_.observer->starting(operation, {algorithm.name, is_direct});
    may_differ = true;
    const auto label = [&] { return fmt::format("{}_{}", algorithm.name, dist::name(operation.kind)); };
    if (is_direct) {
      const auto options = [&] { return options_of(operation, label()); };
      run_direct(*peers, operation, algorithm.direct, OperationLabel(options));
    } else {
      run_collective(*open(operation, label()), operation, algorithm.run);
    }
  } catch (const std::exception& error) {
    if (may_differ && broken_by_.empty()) broken_by_ = check::without_finding(error.what());
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  context_.observer->completed(operation);
}

std::shared_ptr<WorkState> ComposedBackend::submit(Operation operation) {
  if (is_collective(operation.kind)) {
    auto work = std::make_shared<CollectiveWork>(std::move(operation));
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
