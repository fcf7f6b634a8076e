// The thread that moves messages (move), and which ranks are still there: take_in_all() reads all sockets and
// then acts on reports of deaths and departures; on_failed() and left() make the errors from them and pass
// the news on; abort() and leave() end this rank's own part.
#include <algorithm>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/store/socket.h"
#include "dist/transport/engine/tuning.h"
#include "dist/transport/plain/plain.h"

namespace dist::net::plain {

Plain::Plain(int rank, Connections connections)
    : rank_(rank), nodes_(std::move(connections.nodes)), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!bell_) fail_errno(Errc::resource, errno, "making an eventfd");
  for (UniqueFd& socket : connections.sockets) peers_.emplace_back().socket = std::move(socket);
  mover_ = std::thread([this] { move(); });
}

Plain::~Plain() { stop(); }

void Plain::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
    ring();
  }
  if (mover_.joinable()) mover_.join();
}

void Plain::move() {
  Lock lock(mutex_);
  while (!stopping_) {
    std::vector<pollfd> entries{{bell_.get(), POLLIN, 0}};
    for (const Peer& each : peers_)
      if (each.socket)
        entries.push_back(
            {each.socket.get(), static_cast<short>(each.unsent() > 0 ? POLLIN | POLLOUT : POLLIN), 0});
    lock.unlock();
    ::poll(entries.data(), entries.size(), -1);
    std::uint64_t rings = 0;
    static_cast<void>(::read(bell_.get(), &rings, sizeof rings));
    lock.lock();
    take_in_all();
  }
}

// Reads all sockets until they are empty, and only then acts on the news that ranks are gone or gave up: by
// then everything that was sent before has arrived. What rank 2 gave up because rank 3 died fails by that
// death, whichever socket is read first.
void Plain::take_in_all() {
  constexpr int turns = 64;  // a bounded part of what may never end
  for (int turn = 0, moved = 1; moved && turn < turns; ++turn) {
    moved = 0;
    for (int r = 0; r < static_cast<int>(peers_.size()); ++r) {
      moved |= peer(r).read([&](const Header& header, Payload payload) { on_frame(r, header, payload); });
      if (peer(r).socket) peer(r).flush();
      stream(peer(r));
      if (!peer(r).hung_up || !peer(r).socket) continue;
      peer(r).socket.reset();
      reports_.push_back([this, r] { on_failed(r, "died (its connection closed without a goodbye)"); });
    }
  }
  for (const auto& act : std::exchange(reports_, {})) act();
  if (peer(rank_).unsent() > 0) ring();
}

bool Plain::await(Lock& lock, Deadline deadline, const std::function<bool()>& done) {
  if (deadline.is_never()) return changed_.wait(lock, done), true;
  return changed_.wait_until(lock, std::chrono::steady_clock::now() + deadline.left(), done);
}

void Plain::note_activity() {
  ++activity_;
  changed_.notify_all();
}

void Plain::ring() {
  constexpr std::uint64_t one = 1;
  static_cast<void>(::write(bell_.get(), &one, sizeof one));
}

int Plain::wait(std::uint64_t id) {
  Lock lock(mutex_);
  Message& message = messages_.at(id);
  const bool ended =
      await(lock, message.op->options.deadline, [&] { return message.stage == Message::Stage::done; });
  const Failure failure = ended ? message.failure : timeout_failure(rank_, message);
  const int other = message.peer;
  end(message);
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
  end(messages_.at(id));
}

void Plain::progress(Timeout patience) {
  Lock lock(mutex_);
  await(lock, Deadline::after(patience), [&] { return activity_ != seen_; });
  seen_ = activity_;
}

void Plain::interrupt() {
  Lock lock(mutex_);
  note_activity();
}

bool Plain::may_come(const Op& op, int source) const {
  if (source != any_rank) return is_present(source);
  const auto& members = op.options.members.list();
  return std::ranges::any_of(members,
                             [&](int r) { return is_present(r) && (r != rank_ || members.size() == 1); });
}

void Plain::fail(Op& op, const Failure& failure) {
  if (op.failure) return;
  op.failure = failure;
  for (auto& [id, message] : messages_)
    if (message.op == &op) settle(message, failure);
}

void Plain::on_left(int rank) {
  if (!is_present(rank)) return;
  peer(rank).state.kind = PeerState::Kind::left;
  note_departure(rank);
  for (auto& [id, message] : messages_) {
    const bool needs_it =
        message.peer == rank || (message.peer == any_rank && !may_come(*message.op, any_rank));
    if (needs_it && message.stage != Message::Stage::done) settle(message, left(message));
  }
}

// The other ranks get the news before they can see this rank end by it, and so name the rank where it began.
void Plain::on_failed(int rank, const std::string& how) {
  if (!is_present(rank)) return;
  pass_on_departures();
  peer(rank).state = {PeerState::Kind::failed, how};
  failures_.push_back(rank);
  log(LogLevel::info, "rank {} {}", rank, how);
  for (Op* op : ops_)
    if (op->has_member(rank)) fail(*op, failure_by(rank, *op));
  tell_all({.kind = Kind::death_notice, .id = static_cast<std::uint64_t>(rank)}, how);
}

Failure Plain::failure_by(int rank, const Op& op) {
  const int first = failures_.front();
  return peer_failure(rank_, op, rank, peer(rank).state,
                      fmt::format("rank {} {}", first, peer(first).state.how), departures_);
}

void Plain::note_departure(int rank) {
  if (std::ranges::find(departures_, rank) == departures_.end()) departures_.push_back(rank);
}

// A rank that has left is not a failure until an operation needs it. Then the news is passed on, as above.
Failure Plain::left(const Message& message) {
  pass_on_departures();
  return peer_left_failure(rank_, message);
}

void Plain::pass_on_departures() {
  for (; passed_on_ < departures_.size(); ++passed_on_)
    tell_all({.kind = Kind::death_notice, .id = static_cast<std::uint64_t>(departures_[passed_on_])}, "");
}

void Plain::tell_all(const Header& header, const std::string& text) {
  for (Peer& each : peers_)
    if (each.socket) each.put(header, std::as_bytes(std::span(text)));
  ring();
}

void Plain::abort(const std::string& reason) {
  Lock lock(mutex_);
  if (!aborted_.empty()) return;
  aborted_ = reason.empty() ? "aborted" : reason;
  for (Op* op : ops_) fail(*op, aborted_failure(rank_, *op, aborted_));
  note_activity();
}

void Plain::leave(const std::string& reason) noexcept try {
  abort(reason.empty() ? "this rank has left the job" : reason);
  stop();
  if (reason.empty() && !gave_up_ && failures_.empty())
    for (const auto& [key, message] : unexpected_)
      if (!message.header.point_to_point && message.header.opcode != 0)
        log(LogLevel::warn, "{}",
            describe_unreceived(rank_, {message.source, message.header.opcode, message.header.tag}));
  tell_all({.kind = Kind::goodbye}, reason.substr(0, longest_reason));
  const Deadline patience =
      Deadline::after(reason.empty() ? Timeout(goodbye_patience) : Timeout(failed_goodbye_patience));
  for (Peer& each : peers_) {
    while (each.socket && each.unsent() > 0 && wait_ready(each.socket.get(), POLLOUT, patience)) each.flush();
    if (each.socket)
      ::shutdown(each.socket.get(), SHUT_WR);  // a close with unread bytes would take the goodbye back
    while (each.socket && each.read([](const Header&, Payload) {})) {
    }
    each.socket.reset();
  }
} catch (const std::exception& error) {
  log(LogLevel::error, "leaving the job: {}", error.what());
}

}  // namespace dist::net::plain
