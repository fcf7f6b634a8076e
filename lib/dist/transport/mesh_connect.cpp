// The connections of the mesh: dialling, being dialled, greeting.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/core/arena.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/store/socket.h"
#include "dist/transport/mesh.h"
#include "dist/transport/shared_link.h"
#include "dist/transport/tcp_link.h"

namespace dist::net {
namespace {

constexpr std::chrono::seconds dial_patience{3};     // for one address
constexpr std::chrono::seconds answer_patience{10};  // of one address, while there are others
constexpr std::chrono::milliseconds retry_patience{1000};
constexpr int news_interval_ms = 10;        // rings and threads are looked at so often
constexpr std::size_t most_strangers = 64;  // connections that have not greeted yet

bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

void Mesh::meet() {
  for (int peer = 0; peer < mine_.rank; ++peer) {
    const Card& card = cards_[static_cast<std::size_t>(peer)];
    if (way_to(card) == Way::thread) continue;
    dialled_.push_back({peer, addresses_of(card), nullptr});
    dial(dialled_.back());
  }
  while (!missing().empty()) {
    const std::vector<int> gone = died();  // what they said before is heard below
    find_threads();
    if (local_listener_) accept_from(local_listener_);
    if (tcp_listener_) accept_from(tcp_listener_);
    hear_callers();
    hear_dialled();
    for (int peer : gone)
      if (!is_linked(peer)) report_death(peer);
    if (missing().empty()) break;
    check_health();
    wait_for_news();
  }
  local_listener_.reset();
  tcp_listener_.reset();
}

// A process that has ended may have given up because of another: the first cause is what all are to hear.
void Mesh::report_death(int peer) {
  check_peers();
  fail_by_reason_or(fmt::format("rank {}: rank {} (process {}) died while the ranks were connecting",
                                mine_.rank, peer, cards_[static_cast<std::size_t>(peer)].pid));
}

std::deque<std::string> Mesh::addresses_of(const Card& peer) const {
  if (way_to(peer) == Way::process) return {peer.local_address};
  std::deque<std::string> all(peer.addresses.begin(), peer.addresses.end());
  if (peer.host == mine_.host)  // the loopback first
    std::stable_partition(all.begin(), all.end(),
                          [](const std::string& a) { return a.starts_with("tcp://127."); });
  return all;
}

// Connects to the first of the addresses that answers, and greets.
void Mesh::dial(Dialled& call) {
  std::string problems;
  const Deadline patience = Deadline::sooner(options_.deadline, Deadline::after(retry_patience));
  const std::deque<std::string> addresses = call.others;
  while (true) {
    while (!call.others.empty()) {
      const std::string address = call.others.front();
      call.others.pop_front();
      auto socket = dist::dial(parse_address(address),
                               Deadline::sooner(options_.deadline, Deadline::after(dial_patience)));
      if (socket.fd) {
        call.talk = std::make_unique<Conversation>(std::move(socket.fd));
        if (greet(*call.talk, call.peer, options_.token)) return;
      }
      if (socket.problem == std::strerror(EMFILE))
        fail(Errc::resource, "no file descriptor is left for the connection to rank {}", call.peer);
      problems += fmt::format("{}{} ({})", problems.empty() ? "" : ", ", address, socket.problem);
    }
    check_health();
    if (patience.passed())
      fail(Errc::connection,
           "rank {} could not reach rank {} at {}; has it ended, or is the network between the hosts "
           "closed?",
           mine_.rank, call.peer, problems.empty() ? "any address" : problems);
    std::this_thread::sleep_for(std::chrono::milliseconds(news_interval_ms));
    problems.clear();
    call.others = addresses;
  }
}

bool Mesh::greet(Conversation& talk, int peer, std::string_view token) {
  Greeting greeting;
  greeting.from = mine_.rank;
  greeting.to = peer;
  greeting.world_size = mine_.world_size;
  if (way_to(cards_[static_cast<std::size_t>(peer)]) != Way::process) return talk.say(greeting, token, {});
  greeting.rings = static_cast<std::uint64_t>(mailroom_->rings());
  greeting.arena_base = arena_base_;
  greeting.arena_bytes = Arena::local().capacity();
  const std::array descriptors{mailroom_->memory_fd(), mailroom_->doorbell_fd(), Arena::local().fd()};
  return talk.say(greeting, token, descriptors);
}

void Mesh::find_threads() {
  for (int peer : missing()) {
    const Card& card = cards_[static_cast<std::size_t>(peer)];
    if (way_to(card) != Way::thread) continue;
    std::shared_ptr<Mailroom> theirs;
    try {
      theirs = MailroomExchange::find(card.mailroom);
    } catch (const Error& error) {
      check_reasons();
      fail(error.code(), "rank {}: rank {}: {}", mine_.rank, peer, error.what());
    }
    if (!theirs) continue;
    const RingLink::Rooms rooms{mailroom_, std::move(theirs), local_index(mine_.rank), local_index(peer)};
    link(peer, std::make_unique<ThreadLink>(peer, engine_->events(), rooms));
  }
}

void Mesh::wait_for_news() {
  std::vector<pollfd> entries{{engine_->poll_fd(), POLLIN, 0}};
  const auto watch = [&](int fd) { entries.push_back({fd, POLLIN, 0}); };
  if (local_listener_) watch(local_listener_.get());
  if (tcp_listener_) watch(tcp_listener_.get());
  for (const auto& talk : callers_) watch(talk->fd());
  for (const auto& call : dialled_) watch(call.talk->fd());
  const bool awaits_threads = std::any_of(cards_.begin(), cards_.end(), [this](const Card& card) {
    return !is_linked(card.rank) && way_to(card) == Way::thread;
  });
  ::poll(entries.data(), entries.size(), awaits_threads ? 1 : news_interval_ms);
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
    callers_.push_back(std::make_unique<Conversation>(std::move(fd)));
    const auto expected = static_cast<std::size_t>(mine_.world_size);
    if (callers_.size() > expected + most_strangers) callers_.pop_front();
  }
}

void Mesh::hear_callers() {
  std::erase_if(callers_, [this](const std::unique_ptr<Conversation>& talk) {
    const auto state = talk->listen();
    if (state == Conversation::State::listening) return false;
    const Greeting& greeting = talk->greeting();
    const bool is_ours = state == Conversation::State::complete && talk->token() == options_.token &&
                         greeting.to == mine_.rank && greeting.world_size == mine_.world_size &&
                         greeting.from > mine_.rank && greeting.from < mine_.world_size &&
                         !is_linked(greeting.from);
    if (!is_ours) {
      log(talk->is_silent() ? LogLevel::debug : LogLevel::warn,
          "rank {} refused a connection from {}: not of this job", mine_.rank, peer_name(talk->fd()));
      return true;
    }
    if (greet(*talk, greeting.from, {})) link(greeting.from, *talk);
    return true;
  });
}

void Mesh::hear_dialled() {
  for (auto& call : dialled_) {
    const auto state = call.talk->listen();
    const bool is_right = state == Conversation::State::complete && call.talk->greeting().from == call.peer &&
                          call.talk->greeting().to == mine_.rank;
    const bool is_late = !call.others.empty() && Clock::now() - call.talk->since() > answer_patience;
    if (is_right) {
      link(call.peer, *call.talk);
    } else if (state != Conversation::State::listening || is_late) {
      if (call.others.empty()) {
        check_reasons();
        fail(Errc::connection,
             "rank {}: rank {} closed the connection instead of greeting; did it fail, or is it of "
             "another job (another token)?",
             mine_.rank, call.peer);
      }
      dial(call);
    }
  }
  std::erase_if(dialled_, [this](const Dialled& call) { return is_linked(call.peer); });
}

void Mesh::link(int peer, Conversation& talk) {
  const Card& card = cards_[static_cast<std::size_t>(peer)];
  if (way_to(card) == Way::tcp)
    return link(peer, std::make_unique<TcpLink>(peer, engine_->events(), talk.take_socket()));
  auto descriptors = talk.take_descriptors();
  if (descriptors.size() != 3)
    fail(Errc::connection, "rank {} sent {} descriptors instead of 3; do all ranks run the same build?", peer,
         descriptors.size());
  const Greeting& greeting = talk.greeting();
  auto theirs = std::make_shared<Mailroom>(std::move(descriptors[0]), std::move(descriptors[1]),
                                           static_cast<int>(greeting.rings));
  theirs->close_memory_fd();
  if (theirs->rings() != mailroom_->rings())
    fail(Errc::mismatch,
         "rank {} sees {} ranks on this host, rank {} sees {}; check DIST_HOST_ID and DIST_TRANSPORT", peer,
         theirs->rings(), mine_.rank, mailroom_->rings());
  const RingLink::Rooms rooms{mailroom_, std::move(theirs), local_index(mine_.rank), local_index(peer)};
  PeerArena arena{Mapping(descriptors[2].get(), greeting.arena_bytes), greeting.arena_base};
  link(peer,
       std::make_unique<ProcessLink>(peer, engine_->events(), rooms, std::move(arena), talk.take_socket()));
}

// A rank that was dialled may be linked with this one before its greeting is heard here, and takes this one
// for dead when the connection closes: over TCP it is told behind this rank's own greeting.
void Mesh::take_leave_of_dialled(const std::string& reason) {
  for (const Dialled& call : dialled_) {
    if (!call.talk || way_to(cards_[static_cast<std::size_t>(call.peer)]) != Way::tcp) continue;
    if (!call.talk->say(text_frame(FrameKind::goodbye, reason), reason))
      log(LogLevel::debug, "rank {} was not told", call.peer);
  }
}

// Ranks that ended before they were linked; their sockets cannot tell.
std::vector<int> Mesh::died() {
  std::vector<int> gone;
  const bool asks_store = options_.is_gone && Clock::now() >= next_look_;
  if (asks_store) next_look_ = Clock::now() + check_interval;
  for (int peer : missing())
    if (has_died(cards_[static_cast<std::size_t>(peer)]) || (asks_store && options_.is_gone(peer)))
      gone.push_back(peer);
  return gone;
}

bool Mesh::has_died(const Card& card) {
  if (card.host != mine_.host || card.pid_namespace != mine_.pid_namespace || way_to(card) == Way::thread)
    return false;
  UniqueFd& process = processes_[card.rank];
  if (!process) process = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, card.pid, 0)));
  return process ? is_readable(process.get()) : errno == ESRCH;
}

}  // namespace dist::net
