// Which ranks are still there. Links report goodbyes (on_goodbye), closed connections (on_hang_up) and death
// notices (on_death_notice); settle_reports() acts on these reports after all earlier messages were taken in.
// Each failure is passed on to the other ranks (tell_others) before an operation fails by it. abort() and
// leave() end this rank's own part.
#include <algorithm>

#include "dist/core/log.h"
#include "dist/transport/engine/engine.h"
#include "dist/transport/opcode.h"
#include "dist/transport/transport.h"

namespace dist::net {
namespace {

const std::byte* bytes_of(const std::string& text) { return reinterpret_cast<const std::byte*>(text.data()); }

}  // namespace

Frame text_frame(FrameKind kind, const std::string& text, std::uint64_t id) {
  return {.kind = kind, .bytes = text.size(), .id = id};
}

void Engine::add_link(std::unique_ptr<Link> link) {
  Lock lock = leader_lock_.enter();
  Link& added = *link;
  links_[static_cast<std::size_t>(added.peer())] = std::move(link);
  if (added.fd() >= 0) poller_.add(added.fd(), added.peer());
  if (added.writes_to_fd())
    ++sockets_;
  else if (added.peer() != rank())
    rings_.push_back(&added);
}

std::string Engine::failed_peer() {
  Lock lock = leader_lock_.enter();
  advance(lock);
  look_before_sleep();
  if (failures_.empty()) return {};
  const int peer = failures_.front();
  return fmt::format("rank {} {}", peer, peers_[static_cast<std::size_t>(peer)].how);
}

Failure Engine::failure_of(const Op& op) const {
  if (!aborted_.empty()) return aborted_failure(rank(), op, aborted_);
  for (int peer : failures_)
    if (op.has_member(peer))
      return peer_failure(rank(), op, peer, peers_[static_cast<std::size_t>(peer)], departures_);
  return {};
}

void Engine::fail_op(Op& op, const Failure& failure) {
  if (op.failure) return;
  op.failure = failure;
  transfers_.for_each([&](Transfer& t) {
    if (t.op == &op) settle(t, failure);
  });
}

template <class FailureOf>
void Engine::fail_ops(const FailureOf& failure_of) {
  for (Op* op = ops_.first(); op; op = op->next)
    if (!op->failure) op->failure = failure_of(*op);
  transfers_.for_each([&](Transfer& t) {
    if (t.op->failure) settle(t, t.op->failure);
  });
}

void Engine::on_goodbye(int peer, const std::string& reason) {
  if (!reason.empty()) return report_failure(peer, "gave up: " + reason);
  reports_.push_back([this, peer] { on_peer_left(peer); });
}

void Engine::on_peer_left(int peer) {
  PeerState& state = peers_[static_cast<std::size_t>(peer)];
  if (state.kind != PeerState::Kind::present) return;
  state.kind = PeerState::Kind::left;
  note_departure(peer);
  // Everything that it ever sent has been taken in: what still needs this peer will never come.
  bool is_missed = false;
  transfers_.for_each([&](Transfer& t) {
    const bool can_copy = t.stage == Transfer::Stage::copying && t.claim.value != 0;
    const bool needs_it = t.peer == peer ? !can_copy : t.peer == any_rank && !may_come(*t.op, any_rank);
    if (!needs_it || t.stage == Transfer::Stage::done) return;
    settle(t, peer_left_failure(rank(), t));
    is_missed = true;
  });
  if (is_missed) pass_on_departures();
}

void Engine::on_hang_up(Link& link) {
  if (link.is_shut()) return;
  while (link.poll()) {
  }
  const int peer = link.peer();
  const bool left_in_order =
      link.shared_segment() && link.shared_segment()->header().left_in_order.load() != 0;
  forget_link(link);
  if (peers_[static_cast<std::size_t>(peer)].kind != PeerState::Kind::present) return;
  if (left_in_order) return on_goodbye(peer, "");
  report_failure(peer, "died (its connection closed without a goodbye)");
}

void Engine::report_failure(int peer, const std::string& how) {
  reports_.push_back([this, peer, how] { on_peer_failed(peer, how); });
}

// Departures, deaths and given-up transfers are reported between ordinary messages, and they end what needs
// that rank. So first take in everything that was sent before: what needed no more than that ends well. Then
// act on the reports in their order: what a rank gave up because of a death fails by that death.
void Engine::settle_reports() {
  if (reports_.empty()) return;
  take_in_all();
  for (const auto& act : std::exchange(reports_, {})) act();
}

// Every rank passes the news on before it fails by it: a rank that then sees this rank go has heard before,
// on the same connection, where the failure began.
void Engine::on_peer_failed(int peer, const std::string& how) {
  PeerState& state = peers_[static_cast<std::size_t>(peer)];
  if (state.kind != PeerState::Kind::present) return;
  pass_on_departures();
  state = {PeerState::Kind::failed, how};
  failures_.push_back(peer);
  log(LogLevel::info, "rank {} {}", peer, how);
  fail_ops([&](const Op& op) {
    return op.has_member(peer) ? peer_failure(rank(), op, peer, state, departures_) : Failure{};
  });
  note_activity();
  tell_others(peer, how);
}

// Takes in a bounded amount, because messages may never stop coming.
void Engine::take_in_all() {
  constexpr int turns = 64;
  for (std::size_t i = 0; i < rings_.size(); ++i)
    for (int turn = 0; turn < turns && rings_[i]->poll(); ++turn) {
    }
  Poller::Events events;
  for (int turn = 0; sockets_ > 0 && turn < turns && take_in(poller_.wait(events, 0)); ++turn) {
  }
}

void Engine::on_death_notice(int peer, const std::string& how) {
  how.empty() ? note_departure(peer) : report_failure(peer, how);
}

void Engine::note_departure(int peer) {
  if (std::ranges::find(departures_, peer) == departures_.end()) departures_.push_back(peer);
}

// A rank that has left is not a failure until an operation needs it. Then that news is passed on, too: the
// user may end this rank by the error, and the other ranks must not take it for the first one to go.
Failure Engine::report_left(const Transfer& t) {
  pass_on_departures();
  return peer_left_failure(rank(), t);
}

void Engine::pass_on_departures() {
  for (; passed_on_ < departures_.size(); ++passed_on_) tell_others(departures_[passed_on_], "");
}

void Engine::tell_others(int peer, const std::string& how) {
  for (const auto& other : links_)
    if (other && other->peer() != rank() && other->peer() != peer && !other->is_shut())
      other->send(text_frame(FrameKind::death_notice, how, static_cast<std::uint64_t>(peer)), bytes_of(how));
}

void Engine::forget_link(Link& link) {
  if (link.fd() >= 0) poller_.remove(link.fd());
  if (link.writes_to_fd()) --sockets_;
  std::erase(rings_, &link);
  std::erase(backlog_, &link);
  link.shut();
}

void Engine::abort(const std::string& reason) {
  Lock lock = leader_lock_.enter();
  if (!aborted_.empty()) return;
  aborted_ = reason.empty() ? "aborted" : reason;
  fail_ops([&](const Op& op) { return aborted_failure(rank(), op, aborted_); });
  note_activity();
}

// Warns of a message that no rank received: when every rank is root of a broadcast, all of them end without
// an error.
void Engine::look_for_unreceived() {
  const UnexpectedMessage* const message = matching_.unreceived();
  if (!message || gave_up_ || !failures_.empty()) return;
  log(LogLevel::warn, "{}", describe_unreceived(rank(), message->unreceived()));
}

Timeout Engine::patience_to_leave(bool in_order) const {
  if (!in_order) return failed_goodbye_patience;
  return std::ranges::any_of(backlog_, &Link::writes_to_fd) ? socket_goodbye_patience : goodbye_patience;
}

void Engine::leave(const std::string& reason) noexcept try {
  abort(reason.empty() ? "this rank has left the job" : reason);
  Lock lock = leader_lock_.enter();
  if (left_) return;
  left_ = true;
  if (reason.empty()) {
    take_in_all();
    look_for_unreceived();
  }
  const std::string text = reason.substr(0, longest_reason);
  for (const auto& link : links_)
    if (link && link->peer() != rank() && !link->is_shut())
      link->send(text_frame(FrameKind::goodbye, text), bytes_of(text));
  auto since = Deadline::Clock::now();
  while (!backlog_.empty() && !Deadline::at(since + patience_to_leave(reason.empty())).passed()) {
    if (flush_backlog() && reason.empty()) since = Deadline::Clock::now();  // the peers are still reading
    if (advance(lock)) continue;
    Poller::Events events;
    handle(poller_.wait(events, 5));
  }
  if (reason.empty()) config_.shared_segment->header().left_in_order.store(1);
  for (const auto& link : links_) {
    if (!link || link->is_shut()) continue;
    link->look_before_sleep();  // reports to the peer what was read
    forget_link(*link);
  }
} catch (const std::exception& error) {
  log(LogLevel::error, "leaving the job: {}", error.what());
}

Engine::~Engine() {
  config_.shared_segment->header().departed.store(1);
  for (const auto& link : links_)
    if (link && link->shared_segment() && link->peer() != rank()) link->shared_segment()->wake();
}

}  // namespace dist::net
