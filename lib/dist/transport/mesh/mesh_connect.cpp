// The connections of the mesh: meet() is the loop that accepts, reads greetings and links, and watches for
// ranks that have died. greet(), answer() and conclude() make one handshake; link() turns a connection into a
// link; died() finds processes that have ended.
#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/core/memory/arena.h"
#include "dist/transport/link/shared_link.h"
#include "dist/transport/link/tcp_link.h"
#include "dist/transport/mesh/mesh.h"

namespace dist::net {
namespace {

constexpr std::chrono::seconds recall_patience{30};  // how long a rank that hung up may take to call again
constexpr int news_interval_ms = 10;                 // how often the rings are polled
constexpr std::chrono::milliseconds death_interval{100};  // looking for ended processes costs a call per rank
constexpr std::size_t most_strangers = 64;                // most connections that have not greeted yet

// Maps nothing where the address space has no room for the arena and, for the program, half as much again.
Mapping map_arena(int peer, int fd, std::size_t bytes) {
  if (bytes <= free_address_space() / 3 * 2) return {fd, bytes};
  log(LogLevel::info,
      "rank {}'s tensors are not mapped: {} MiB do not fit into this process's address space{}; messages "
      "with "
      "it are slower",
      peer, bytes >> 20, limit_behind(ENOMEM));
  return {};
}

}  // namespace

void Mesh::meet() {
  met_since_ = Clock::now();
  next_death_ = met_since_ + death_interval;  // most ranks are linked by then
  for (int peer = 0; peer < mine_.rank; ++peer)
    if (roster_.way_to(peer) != LinkKind::thread)
      calls_.push_back({peer, Dialler(roster_.addresses_of(roster_[peer], store_.where()))});
  while (!missing().empty()) {
    const std::vector<int> gone = died();  // what they sent before is read below
    find_threads();
    if (local_listener_) accept_from(local_listener_);
    if (tcp_listener_) accept_from(tcp_listener_);
    hear_callers();
    advance_calls();
    for (int peer : gone)
      if (!is_linked(peer)) report_death(peer);
    if (missing().empty()) break;
    check_health();
    report_silence();
    const auto before = Clock::now();
    wait_for_news();
    const auto slept = Clock::now() - before;  // far longer than asked for: this process was stopped
    if (slept > check_interval) met_since_ += slept;
  }
  local_listener_.reset();
  tcp_listener_.reset();
  callers_.clear();
}

// A process that has ended may have given up because of another one: all ranks must hear of the first cause.
void Mesh::report_death(int peer) {
  check_peers();
  store_.fail_by_reason_or(fmt::format("rank {}: rank {} (process {}) died while the ranks were connecting",
                                       mine_.rank, peer, roster_[peer].pid));
}

// `shares`: over a local socket, the descriptors of what the two will share come along.
bool Mesh::greet(Handshake& talk, int peer, std::string_view token, bool shares) {
  HandshakeMessage greeting;
  greeting.from = mine_.rank;
  greeting.to = peer;
  greeting.world_size = mine_.world_size;
  if (roster_.way_to(peer) != LinkKind::process) return talk.say(greeting, token, {});
  greeting.rings = static_cast<std::uint64_t>(shared_segment_->rings());
  greeting.arena_base = arena_base_;
  greeting.arena_bytes = Arena::local().capacity();
  if (!shares) return talk.say(greeting, token, {});
  const std::array descriptors{shared_segment_->memory_fd(), shared_segment_->doorbell_fd(),
                               Arena::local().fd()};
  return talk.say(greeting, token, descriptors);
}

void Mesh::find_threads() {
  if (unlinked_threads_ == 0) return;
  for (int peer : missing()) {
    if (roster_.way_to(peer) != LinkKind::thread) continue;
    std::shared_ptr<SharedSegment> theirs;
    try {
      theirs = SharedSegmentExchange::find(roster_[peer].shared_segment);
    } catch (const Error& error) {
      store_.check_reasons();
      fail(error.code(), "rank {}: rank {}: {}", mine_.rank, peer, error.what());
    }
    if (!theirs) continue;
    const RingLink::Rooms rooms{shared_segment_, std::move(theirs), roster_.local_index(mine_.rank),
                                roster_.local_index(peer)};
    link(peer, std::make_unique<ThreadLink>(peer, engine_->events(), rooms));
    --unlinked_threads_;
  }
}

void Mesh::wait_for_news() {
  std::vector<pollfd> entries{{engine_->poll_fd(), POLLIN, 0}};
  const auto watch = [&](int fd) { entries.push_back({fd, POLLIN, 0}); };
  if (local_listener_) watch(local_listener_.get());
  if (tcp_listener_) watch(tcp_listener_.get());
  for (const Caller& caller : callers_) watch(caller.talk->fd());
  int patience = unlinked_threads_ > 0 ? 1 : news_interval_ms;
  for (const Call& call : calls_) {
    call.dialler.watch(entries);
    for (const auto& [place, talk] : call.talks) watch(talk->fd());
    if (const int ms = call.dialler.poll_ms(); ms >= 0) patience = std::min(patience, ms);
  }
  ::poll(entries.data(), entries.size(), patience);
  ready_.clear();
  for (const pollfd& entry : entries)
    if (entry.revents != 0) ready_.push_back(entry.fd);
  std::ranges::sort(ready_);
}

void Mesh::accept_from(const UniqueFd& listener) {
  for (;;) {
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
        fail_errno(Errc::resource, errno, "accepting a connection");
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    tune_stream(fd.get());
    callers_.push_back({std::make_unique<Handshake>(std::move(fd))});
    const auto expected = static_cast<std::size_t>(mine_.world_size);
    if (callers_.size() > expected + most_strangers) callers_.pop_front();
  }
}

void Mesh::hear_callers() {
  std::erase_if(callers_, [this](Caller& caller) {
    if (!is_ready(caller.talk->fd())) return false;
    const auto state = caller.talk->listen();
    if (state == Handshake::State::listening) return false;
    if (caller.from < 0) return !answer(caller, state);
    conclude(caller, state);
    return true;
  });
}

// False: the connection is to be closed.
bool Mesh::answer(Caller& caller, Handshake::State state) {
  const HandshakeMessage& greeting = caller.talk->greeting();
  const bool is_ours = state == Handshake::State::complete && caller.talk->token() == options_.token &&
                       greeting.to == mine_.rank && greeting.world_size == mine_.world_size &&
                       greeting.from > mine_.rank && greeting.from < mine_.world_size;
  if (!is_ours) {
    const bool is_news = !caller.talk->is_silent() && !std::exchange(told_strangers_, true);
    log(is_news ? LogLevel::warn : LogLevel::debug, "rank {} refused a connection from {}: not of this job",
        mine_.rank, peer_name(caller.talk->fd()));
    return false;
  }
  if (is_linked(greeting.from)) return false;  // by another one of its connections
  caller.from = greeting.from;
  caller.talk->expect_another();
  return greet(*caller.talk, caller.from, {}, true);
}

// To be called when its rank has confirmed the connection, or given it up, perhaps for another one.
void Mesh::conclude(const Caller& caller, Handshake::State state) {
  if (is_linked(caller.from)) return;
  if (state == Handshake::State::complete && caller.talk->greeting().from == caller.from)
    link(caller.from, *caller.talk);
  else
    hung_up_.try_emplace(caller.from, Clock::now());
}

void Mesh::link(int peer, Handshake& talk) {
  if (roster_.way_to(peer) == LinkKind::tcp)
    return link(peer, std::make_unique<TcpLink>(peer, engine_->events(), talk.take_socket()));
  auto descriptors = talk.take_descriptors();
  if (descriptors.size() != 3)
    fail(Errc::connection, "rank {} sent {} instead of 3; do all ranks run the same build?", peer,
         counted(descriptors.size(), "descriptor"));
  const HandshakeMessage& greeting = talk.greeting();
  auto theirs = std::make_shared<SharedSegment>(std::move(descriptors[0]), std::move(descriptors[1]),
                                                static_cast<int>(greeting.rings));
  theirs->close_memory_fd();
  if (theirs->rings() != shared_segment_->rings())
    fail(Errc::mismatch,
         "rank {} sees {} on this host, rank {} sees {}; check DIST_HOST_ID and DIST_TRANSPORT", peer,
         counted(theirs->rings(), "rank"), mine_.rank, shared_segment_->rings());
  const RingLink::Rooms rooms{shared_segment_, std::move(theirs), roster_.local_index(mine_.rank),
                              roster_.local_index(peer)};
  PeerArena arena{map_arena(peer, descriptors[2].get(), greeting.arena_bytes), greeting.arena_base};
  link(peer,
       std::make_unique<ProcessLink>(peer, engine_->events(), rooms, std::move(arena), talk.take_socket()));
}

// Whether this process can notice the end of that rank's process.
bool Mesh::has_pidfd(const RankAddress& peer) {
  if (peer.host != mine_.host || peer.pid_namespace != mine_.pid_namespace ||
      roster_.way_to(peer) == LinkKind::thread)
    return false;
  UniqueFd& process = processes_[peer.rank];
  if (!process) process = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  return process || errno == ESRCH;
}

// Ranks whose processes ended before they were linked; their sockets cannot show it.
std::vector<int> Mesh::died() {
  std::vector<int> gone, watched;
  std::vector<pollfd> processes;
  if (Clock::now() < next_death_) return gone;
  next_death_ = Clock::now() + death_interval;
  const bool asks_store = options_.is_gone && Clock::now() >= next_look_;
  if (asks_store) next_look_ = Clock::now() + check_interval;
  for (int peer : missing()) {
    if (has_pidfd(roster_[peer])) {
      const UniqueFd& process = processes_[peer];
      watched.push_back(peer);
      processes.push_back({process.get(), POLLIN, 0});
      if (!process) gone.push_back(peer);
    } else if (asks_store && options_.is_gone(peer)) {
      gone.push_back(peer);
    }
  }
  ::poll(processes.data(), processes.size(), 0);
  for (std::size_t i = 0; i < watched.size(); ++i)
    if (processes[i].revents != 0) gone.push_back(watched[i]);
  for (const auto& [peer, since] : hung_up_) {
    const auto is_of = [peer = peer](const Caller& caller) { return caller.from == peer; };
    if (Clock::now() - since > recall_patience && std::ranges::none_of(callers_, is_of)) gone.push_back(peer);
  }
  return gone;
}

}  // namespace dist::net
