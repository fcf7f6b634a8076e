// ServerLoop: one epoll loop over the listener and the clients. It accepts and greets, passes requests to
// StoreService and delivers the answers, gives up clients that are stuck, and copes with a lack of file
// descriptors.
#include "dist/store/server_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/store/wire.h"

namespace dist {
namespace {

constexpr std::uint64_t listener_id = 0, wake_id = 1, first_client_id = 2;
constexpr int accepts_a_round = 16;  // then clients that greet at once are known before more are let in
constexpr auto accept_pause = std::chrono::milliseconds(100);
constexpr auto descriptor_patience = std::chrono::seconds(2);  // after that, newcomers are turned away

Bytes welcome_or_refusal(const std::string& refusal) {
  wire::Writer welcome;
  welcome.put(wire::magic)
      .put(static_cast<std::uint8_t>(refusal.empty() ? wire::Status::ok : wire::Status::refused));
  return welcome.put(std::string_view(refusal)).finish();
}

UniqueFd checked(int fd, std::string_view what) {
  if (fd < 0) fail_errno(Errc::resource, errno, what);
  return UniqueFd(fd);
}

}  // namespace

ServerLoop::ServerLoop(const SocketAddress& address, std::string token, const StoreLimits& limits)
    : address_(address),
      token_(std::move(token)),
      limits_(limits),
      listener_(listen_at(address)),
      wake_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "store: eventfd")),
      epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "store: epoll_create1")),
      next_id_(first_client_id) {
  if (!address_.is_unix()) address_.port = local_port(listener_.get());
  if (address_.host == "0.0.0.0") address_.host = "127.0.0.1";
  if (address_.host == "::") address_.host = "::1";
  spare_ = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  watch(EPOLL_CTL_ADD, listener_.get(), listener_id, EPOLLIN);
  watch(EPOLL_CTL_ADD, wake_.get(), wake_id, EPOLLIN);
}

void ServerLoop::watch(int operation, int fd, std::uint64_t id, std::uint32_t events) {
  epoll_event entry{};
  entry.events = events;
  entry.data.u64 = id;
  epoll_ctl(epoll_.get(), operation, fd, &entry);
}

void ServerLoop::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int n = epoll_wait(epoll_.get(), events.data(), events.size(), wait_ms());
    for (const auto& event : std::span(events).first(static_cast<std::size_t>(std::max(n, 0)))) {
      if (event.data.u64 == wake_id) return;
      if (event.data.u64 == listener_id) {
        accept_clients();
      } else {
        on_event(event.data.u64, event.events);
      }
    }
    const auto now = Clock::now();
    give_up_on_the_stuck(now);
    service_.expire(now, answers_);
    deliver();
    if (accept_again_ != Clock::time_point::min() && now >= accept_again_) {
      accept_again_ = Clock::time_point::min();
      watch(EPOLL_CTL_MOD, listener_.get(), listener_id, EPOLLIN);
    }
  }
}

void ServerLoop::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
}

void ServerLoop::shut_down() {
  shutdown(listener_.get(), SHUT_RDWR);
  for (auto& [id, client] : clients_) shutdown(client.connection.fd(), SHUT_RDWR);
}

int ServerLoop::wait_ms() const {
  auto wake = std::min(service_.next_expiry(), next_check_);
  if (accept_again_ != Clock::time_point::min()) wake = std::min(wake, accept_again_);
  if (wake == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

void ServerLoop::accept_clients() {
  for (int i = 0; i < accepts_a_round; ++i) {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      return wait_for_descriptors(errno);
    }
    short_since_ = Clock::time_point::min();
    make_room();
    const ClientId id = next_id_++;
    const std::uint32_t interest = EPOLLIN | EPOLLRDHUP;
    watch(EPOLL_CTL_ADD, fd.get(), id, interest);
    Client client{ServerConnection(std::move(fd), limits_), interest};
    next_check_ = std::min(next_check_, client.connection.limit());
    clients_.emplace(id, std::move(client));
    ++strangers_;
  }
}

// By the next try, a client that left may have freed a descriptor.
void ServerLoop::wait_for_descriptors(int error) {
  const auto now = Clock::now();
  const std::string why =
      fmt::format("cannot accept a connection: {}{}", std::strerror(error), limit_behind(error));
  raise_soft_limit(RLIMIT_NOFILE, 2 * soft_limit(RLIMIT_NOFILE));
  if (short_since_ == Clock::time_point::min()) {
    short_since_ = now;
    log(LogLevel::warn, "store {}: {}; trying again", address_.str(), why);
  } else if (now - short_since_ > descriptor_patience) {
    turn_away(why);
  }
  watch(EPOLL_CTL_MOD, listener_.get(), listener_id, 0);
  accept_again_ = now + accept_pause;
}

void ServerLoop::turn_away(const std::string& why) {
  spare_.reset();
  if (const UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)); fd) {
    std::array<std::byte, wire::max_greeting> greeting;
    [[maybe_unused]] const auto read = recv(fd.get(), greeting.data(), greeting.size(), 0);
    const Bytes frame = welcome_or_refusal(why);
    [[maybe_unused]] const auto told = send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  }
  spare_ = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

void ServerLoop::make_room() {
  if (strangers_ < limits_.strangers) return;
  auto oldest = std::ranges::find_if(clients_, [](auto& c) { return !c.second.connection.has_greeted(); });
  close(oldest->first, "too many connections that have not greeted");
}

void ServerLoop::on_event(ClientId id, std::uint32_t events) {
  auto found = clients_.find(id);
  if (found == clients_.end()) return;  // closed earlier in this round
  ServerConnection& connection = found->second.connection;
  if ((events & EPOLLOUT) && !connection.flush()) return close(id, "");
  if (events & EPOLLIN) {
    if (!connection.fill()) return close(id, "");
    serve(id, connection);
  } else if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
    return close(id, "");
  }
  if (auto still = clients_.find(id); still != clients_.end()) settle(id, still->second);
}

void ServerLoop::serve(ClientId id, ServerConnection& connection) {
  try {
    const auto message = connection.frame();
    if (!message) return;
    if (!connection.has_greeted()) return greet(id, connection, *message);
    connection.note_request();
    service_.handle(id, *message, answers_);
    connection.drop_frame();
  } catch (const std::exception& error) {  // garbage, or no memory for it: the other clients go on
    close(id, error.what());
  }
}

void ServerLoop::greet(ClientId id, ServerConnection& connection, ConstBytes message) {
  wire::Reader in(message);
  if (in.get<std::uint64_t>() != wire::magic)
    fail(Errc::connection, "it does not send the greeting of a distlab client");
  const auto version = in.get<std::uint32_t>();
  std::string refusal;
  if (version != wire::version) {
    refusal = fmt::format("speaks version {} of the store's protocol, the client {}", wire::version, version);
  } else if (in.text() != token_) {
    refusal =
        "refused this job's token; does it belong to another job? (DIST_JOB_TOKEN must be equal on all "
        "ranks)";
  }
  connection.queue(welcome_or_refusal(refusal));
  if (!refusal.empty()) {
    connection.flush();
    return close(id, refusal);
  }
  LastWill will;
  will.key = in.text();
  will.value = in.text();
  in.expect_end();
  connection.drop_frame();
  connection.welcome(std::move(will));
  --strangers_;
  if (!connection.flush()) close(id, "");
}

// Closing a client may produce further answers, by its last will.
void ServerLoop::deliver() {
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    auto found = clients_.find(answers_[i].to);
    if (found == clients_.end()) continue;
    found->second.connection.queue(std::move(answers_[i].frame));
    if (found->second.connection.flush()) {
      settle(found->first, found->second);
    } else {
      close(found->first, "");
    }
  }
  answers_.clear();
}

// Nothing is read from a client while it is owed a reply: so the memory that it can occupy here is bounded.
void ServerLoop::settle(ClientId id, Client& client) {
  const bool busy = client.connection.has_output() || service_.is_waiting(id);
  std::uint32_t interest = EPOLLRDHUP;
  if (!busy) interest |= EPOLLIN;
  if (client.connection.has_output()) interest |= EPOLLOUT;
  if (interest != client.interest) watch(EPOLL_CTL_MOD, client.connection.fd(), id, interest);
  client.interest = interest;
  next_check_ = std::min(next_check_, client.connection.limit());
}

void ServerLoop::close(ClientId id, std::string_view reason) {
  auto node = clients_.extract(id);
  const ServerConnection& connection = node.mapped().connection;
  if (reason.empty()) {
    log(LogLevel::debug, "store {}: {} has left", address_.str(), connection.peer());
  } else {
    log(LogLevel::warn, "store {}: closed the connection of {}: {}", address_.str(), connection.peer(),
        reason);
  }
  if (!connection.has_greeted()) --strangers_;
  service_.forget(id);
  const LastWill will = connection.will();
  if (!will.key.empty()) service_.execute_will(will.key, will.value, answers_);
}

void ServerLoop::give_up_on_the_stuck(Clock::time_point now) {
  if (now < next_check_) return;
  next_check_ = Clock::time_point::max();
  std::vector<ClientId> stuck;
  for (auto& [id, client] : clients_) {
    const auto limit = client.connection.limit();
    if (limit <= now && !client.connection.has_news()) {
      stuck.push_back(id);
    } else {
      next_check_ = std::min(next_check_, limit);
    }
  }
  for (ClientId id : stuck) {
    const bool greeted = clients_.at(id).connection.has_greeted();
    close(id, greeted ? "it stopped in the middle of a frame" : "it did not greet in time");
  }
}

}  // namespace dist
