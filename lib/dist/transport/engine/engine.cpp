// What a rank's threads ask of its messages, each under the rank's lock: carry() for a message from start to
// end; open(), send(), receive(), wait() and close() for the steps of an operation; await_memory() and
// await_release() for memory that peers write instead of sending messages; leave() at the end.
#include "dist/transport/engine/engine.h"

#include <algorithm>
#include <utility>

#include "dist/core/log.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/transport.h"

namespace dist::net {
namespace {

// How long to wait for a peer that may be stopped while it works on this rank's memory.
constexpr std::chrono::seconds stopped_peer_patience{2};

// The facts of a receive from `peer`, for report.h.
TransferFacts wanted_from(Op& op, int peer) { return {.op = &op, .peer = peer, .bytes = op.options.bytes}; }

Timeout patience_to_leave(const Connections& connections, bool in_order) {
  if (!in_order) return failed_goodbye_patience;
  return connections.has_socket_backlog() ? socket_goodbye_patience : goodbye_patience;
}

}  // namespace

Engine::Engine(Config config)
    : rank_(config.rank),
      nodes_(std::move(config.nodes)),
      connections_(rank_, config.world_size, config.shared_segment, config.spin.count() > 0, transfers_),
      waiting_(config.spin, connections_, peers_, copies_),
      peers_(rank_, config.world_size, connections_, transfers_, waiting_),
      copies_(rank_, *config.shared_segment, connections_, peers_, transfers_, waiting_),
      transfers_(rank_, connections_, peers_, copies_, waiting_),
      quick_messages_(connections_, peers_, transfers_, waiting_) {}

void Engine::add_link(std::unique_ptr<Link> link) {
  Lock lock = waiting_.enter();
  connections_.add(std::move(link));
}

std::string Engine::failed_peer() {
  Lock lock = waiting_.enter();
  waiting_.advance(lock);
  waiting_.look_before_sleep();
  return peers_.first_failure();
}

void Engine::open(Op& op) {
  op.since = std::chrono::steady_clock::now();
  Lock lock = waiting_.enter();
  transfers_.admit(op);
}

void Engine::close(Op& op) noexcept {
  Lock lock = waiting_.enter();
  transfers_.dismiss(lock, op);
}

// Takes the lock once, and asks for the time only if it must wait.
int Engine::carry(bool is_send, const TensorView& data, int peer, const MessageTerms& terms,
                  const std::function<Op()>& make_op) {
  Lock lock = waiting_.enter();
  Transfer* sent = nullptr;
  if (is_send ? quick_messages_.send(data, peer, terms, sent) : quick_messages_.receive(data, peer, terms))
    return peer;
  Op op = make_op();
  transfers_.admit(op);
  try {
    if (sent) sent->op = &op, op.transfers = 1;
    Transfer& t = sent      ? *sent
                  : is_send ? transfers_.send(op, data, peer)
                            : transfers_.receive(op, data, peer);
    if (!t.is_settled() && !waiting_.look_for(lock, t)) {
      op.since = std::chrono::steady_clock::now();
      op.options.deadline = Deadline::after(terms.timeout);
    }
    if (const Failure failure = end(lock, t)) raise(failure);
    const int other = t.peer;
    transfers_.dismiss(lock, op);
    return other;
  } catch (...) {
    transfers_.dismiss(lock, op);
    throw;
  }
}

std::uint64_t Engine::send(Op& op, const TensorView& data, int peer) {
  Lock lock = waiting_.enter();
  return transfers_.send(op, data, peer).id;
}

std::uint64_t Engine::receive(Op& op, const TensorView& data, int peer) {
  Lock lock = waiting_.enter();
  return transfers_.receive(op, data, peer).id;
}

// Waits for the transfer, and retires it.
Failure Engine::end(Lock& lock, Transfer& t) {
  if (!t.is_settled()) {
    waiting_.await(
        lock, [&t] { return t.is_settled(); }, t.op->options.deadline);
    if (t.being_copied)
      waiting_.await(
          lock, [&t] { return !t.being_copied; }, Deadline::never());
  }
  Failure failure;
  if (t.stage != Transfer::Stage::done)
    failure = timeout_failure(rank_, t);
  else if (t.failure)
    failure = t.failure;
  transfers_.retire(lock, t);
  return failure;
}

int Engine::wait(std::uint64_t id) {
  Lock lock = waiting_.enter();
  Transfer& t = *transfers_.find(id);
  const Failure failure = end(lock, t);
  const int peer = t.peer;
  lock.unlock();
  if (failure) raise(failure);
  return peer;
}

bool Engine::test(std::uint64_t id) {
  Lock lock = waiting_.enter();
  Transfer& t = *transfers_.find(id);
  if (!t.is_settled()) waiting_.look_around(lock);
  return t.is_settled() || t.op->options.deadline.passed();
}

bool Engine::is_short(std::uint64_t id) {
  Lock lock = waiting_.enter();
  const Transfer& t = *transfers_.find(id);
  if (t.peer == any_rank) return t.bytes <= std::min(shared_eager_bytes, tcp_eager_bytes);
  return t.bytes <= connections_.to(t.peer).eager_limit();
}

void Engine::cancel(std::uint64_t id) noexcept {
  Lock lock = waiting_.enter();
  transfers_.retire(lock, *transfers_.find(id));
}

void Engine::await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived) {
  Op op;
  op.options = std::move(options);
  open(op);
  Failure failure;
  {
    Lock lock = waiting_.enter();
    const auto is_over = [&] { return arrived() || op.failure || !peers_.is_present(peer); };
    waiting_.await_memory(lock, arrived, is_over, op.options.deadline);
    if (!arrived()) {
      const TransferFacts wanted = wanted_from(op, peer);
      if (op.failure)
        failure = op.failure;
      else
        failure = peers_.is_present(peer) ? timeout_failure(rank_, wanted) : peers_.left_failure(wanted);
    }
  }
  close(op);
  if (failure) raise(failure);
}

void Engine::await_release(int peer, const std::function<bool()>& released) noexcept {
  const Deadline patience = Deadline::after(stopped_peer_patience);
  Lock lock = waiting_.enter();
  while (!released() && !patience.passed() && peers_.is_present(peer)) {
    waiting_.advance(lock);
    waiting_.take_in(1);  // the connection of a process that has ended closes
  }
}

// A rank that gives up because of another rank has passed that news on before: it can be read here.
Failure Engine::withdrawal(TransportOptions options, int peer) {
  Op op;
  op.options = std::move(options);
  open(op);
  {
    Lock lock = waiting_.enter();
    while (!op.failure && waiting_.advance(lock)) {
    }
  }
  close(op);
  return op.failure ? op.failure : cancelled_failure(rank_, wanted_from(op, peer));
}

void Engine::progress(Timeout patience) {
  Lock lock = waiting_.enter();
  waiting_.await_activity(lock, patience);
}

void Engine::interrupt() {
  Lock lock = waiting_.enter();
  waiting_.note_activity();
}

void Engine::abort(const std::string& reason) {
  Lock lock = waiting_.enter();
  peers_.abort(reason);
}

void Engine::leave(const std::string& reason) noexcept try {
  const bool in_order = reason.empty();
  Lock lock = waiting_.enter();
  peers_.abort(in_order ? "this rank has left the job" : reason);
  if (std::exchange(left_, true)) return;
  if (in_order) {
    connections_.poll_all();
    transfers_.warn_of_unreceived();
  }
  connections_.tell_others({.kind = FrameKind::goodbye}, reason.substr(0, longest_reason));
  auto since = Deadline::Clock::now();
  while (connections_.has_backlog() &&
         !Deadline::at(since + patience_to_leave(connections_, in_order)).passed()) {
    if (connections_.flush() && in_order) since = Deadline::Clock::now();  // the peers are still reading
    if (!waiting_.advance(lock)) waiting_.take_in(5);
  }
  connections_.close_all(in_order);
} catch (const std::exception& error) {
  log(LogLevel::error, "leaving the job: {}", error.what());
}

}  // namespace dist::net
