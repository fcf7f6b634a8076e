// The thread that moves messages (move), the threads that wait for one (wait), and how this rank leaves.
#include "dist/transport/plain/plain.h"

#include <utility>

#include "dist/core/log.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/report.h"

namespace dist::net::plain {

Plain::Plain(int rank, Connections connections)
    : nodes_(std::move(connections.nodes)),
      peers_(rank, std::move(connections.sockets)),
      departures_(rank, peers_.size(), [this](int gone, const std::string& how) {
        peers_.tell_all({.kind = Kind::death_notice, .id = static_cast<std::uint64_t>(gone)}, how);
      }) {
  mover_ = std::thread([this] { move(); });
}

Plain::~Plain() { stop(); }

void Plain::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
    peers_.ring();
  }
  if (mover_.joinable()) mover_.join();
}

void Plain::move() {
  Lock lock(mutex_);
  while (!stopping_) {
    peers_.wait(lock);
    take_in_all();
  }
}

void Plain::take_in_all() {
  constexpr int turns = 64;  // a bounded part of what may never end
  for (int turn = 0, moved = 1; moved && turn < turns; ++turn) {
    moved = 0;
    for (int r = 0; r < peers_.size(); ++r) {
      Peer& peer = peers_[r];
      moved |=
          peer.read([&](const Header& header, Payload payload) { messages_.on_frame(r, header, payload); });
      if (peer.socket) peer.flush();
      messages_.stream(peer);
      if (!peer.hung_up || !peer.socket) continue;
      peer.socket.reset();
      departures_.later(
          [this, r] { messages_.on_failed(r, "died (its connection closed without a goodbye)"); });
    }
  }
  departures_.act_on_reports();
  if (peers_[rank()].unsent() > 0) peers_.ring();
}

bool Plain::await(Lock& lock, Deadline deadline, const std::function<bool()>& done) {
  if (deadline.is_never()) return activity_.changed.wait(lock, done), true;
  return activity_.changed.wait_until(lock, std::chrono::steady_clock::now() + deadline.left(), done);
}

int Plain::wait(std::uint64_t id) {
  Lock lock(mutex_);
  Message& message = messages_.at(id);
  const bool ended =
      await(lock, message.op->options.deadline, [&] { return message.stage == Message::Stage::done; });
  const Failure failure = ended ? message.failure : timeout_failure(rank(), message);
  const int other = message.peer;
  messages_.end(message);
  if (failure) raise(failure);
  return other;
}

bool Plain::test(std::uint64_t id) {
  Lock lock(mutex_);
  const Message& message = messages_.at(id);
  return message.stage == Message::Stage::done || message.op->options.deadline.passed();
}

bool Plain::is_short(std::uint64_t id) {
  Lock lock(mutex_);
  return messages_.at(id).bytes <= eager_bytes;
}

void Plain::cancel(std::uint64_t id) noexcept {
  Lock lock(mutex_);
  messages_.end(messages_.at(id));
}

void Plain::progress(Timeout patience) {
  Lock lock(mutex_);
  await(lock, Deadline::after(patience), [&] { return activity_.count != seen_; });
  seen_ = activity_.count;
}

void Plain::interrupt() {
  Lock lock(mutex_);
  activity_.note();
}

void Plain::abort(const std::string& reason) {
  Lock lock(mutex_);
  messages_.abort(reason);
}

void Plain::leave(const std::string& reason) noexcept try {
  abort(reason.empty() ? "this rank has left the job" : reason);
  stop();
  if (reason.empty()) messages_.log_unreceived();
  peers_.tell_all({.kind = Kind::goodbye}, reason.substr(0, longest_reason));
  peers_.close(
      Deadline::after(reason.empty() ? Timeout(goodbye_patience) : Timeout(failed_goodbye_patience)));
} catch (const std::exception& error) {
  log(LogLevel::error, "leaving the job: {}", error.what());
}

}  // namespace dist::net::plain
