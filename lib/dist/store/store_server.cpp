// StoreServer: one epoll loop over the listener and the clients, on a thread of its own. It accepts and
// greets, passes requests to StoreService and delivers the answers, and gives up clients that are stuck or
// misbehave.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <thread>

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/core/log.h"
#include "dist/core/memory/private_fd.h"
#include "dist/core/start_thread.h"
#include "dist/store/descriptor_shortage.h"
#include "dist/store/server_connection.h"
#include "dist/store/socket.h"
#include "dist/store/store_service.h"
#include "dist/store/tcp_store.h"

namespace dist {
namespace {

constexpr std::uint64_t listener_id = 0, wake_id = 1, first_client_id = 2;
constexpr int accepts_a_round = 16;  // then clients that greet at once are known before more are let in

UniqueFd checked(int fd, std::string_view what) {
  if (fd < 0) fail_errno(Errc::resource, errno, what);
  return UniqueFd(fd);
}

// The thread blocks all signals: the program's signals are for the program's own threads.
std::thread start_without_signals(const std::function<void()>& run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread = start_thread("the store", run);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace

class StoreServer::Loop {
 public:
  Loop(const SocketAddress& address, std::string token, const StoreLimits& limits);
  ~Loop();
  const SocketAddress& address() const { return address_; }

 private:
  using Clock = Deadline::Clock;
  using ClientId = StoreService::ClientId;

  struct Client {
    ServerConnection connection;
    std::uint32_t interest;  // the events epoll reports
  };
  void run();
  void watch(int operation, int fd, std::uint64_t id, std::uint32_t events);
  int wait_ms() const;
  void accept_clients();
  void make_room();
  void on_event(ClientId id, std::uint32_t events);
  void serve(ClientId id, ServerConnection& connection);
  void greet(ClientId id, ServerConnection& connection, ConstBytes message);
  void deliver();
  void settle(ClientId id, Client& client);
  void close(ClientId id, std::string_view reason);  // an empty reason: the client left by itself
  void give_up_on_the_stuck(Clock::time_point now);

  SocketAddress address_;
  std::string token_;
  StoreLimits limits_;
  PrivateFd listener_;
  UniqueFd wake_, epoll_;
  std::map<ClientId, Client> clients_;  // in the order in which they came
  int strangers_ = 0;                   // clients that have not greeted yet
  ClientId next_id_;
  StoreService service_;
  StoreService::Answers answers_;                            // to be delivered in this round
  Clock::time_point next_check_ = Clock::time_point::max();  // not later than the first limit of a client
  DescriptorShortage shortage_;
  const pid_t owner_ = getpid();
  std::thread thread_;
};

StoreServer::Loop::Loop(const SocketAddress& address, std::string token, const StoreLimits& limits)
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
  watch(EPOLL_CTL_ADD, listener_.get(), listener_id, EPOLLIN);
  watch(EPOLL_CTL_ADD, wake_.get(), wake_id, EPOLLIN);
  thread_ = start_without_signals([this] { run(); });
}

StoreServer::Loop::~Loop() {
  if (getpid() != owner_) {  // a fork: the thread and the connections are the parent's
    thread_.detach();
    return;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
  thread_.join();
  // So all are closed even if a forked child still holds copies of the descriptors.
  shutdown(listener_.get(), SHUT_RDWR);
  for (auto& [id, client] : clients_) shutdown(client.connection.fd(), SHUT_RDWR);
}

void StoreServer::Loop::watch(int operation, int fd, std::uint64_t id, std::uint32_t events) {
  epoll_event entry{};
  entry.events = events;
  entry.data.u64 = id;
  epoll_ctl(epoll_.get(), operation, fd, &entry);
}

void StoreServer::Loop::run() {
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
    if (shortage_.has_paused(now)) watch(EPOLL_CTL_MOD, listener_.get(), listener_id, EPOLLIN);
  }
}

int StoreServer::Loop::wait_ms() const {
  const auto wake = std::min({service_.next_expiry(), next_check_, shortage_.next_try()});
  if (wake == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

void StoreServer::Loop::accept_clients() {
  for (int i = 0; i < accepts_a_round; ++i) {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      shortage_.note(listener_.get(), errno, address_);
      return watch(EPOLL_CTL_MOD, listener_.get(), listener_id, 0);
    }
    shortage_.end();
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

void StoreServer::Loop::make_room() {
  if (strangers_ < limits_.strangers) return;
  auto oldest = std::ranges::find_if(clients_, [](auto& c) { return !c.second.connection.has_greeted(); });
  close(oldest->first, "too many connections that have not greeted");
}

void StoreServer::Loop::on_event(ClientId id, std::uint32_t events) {
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

void StoreServer::Loop::serve(ClientId id, ServerConnection& connection) {
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

void StoreServer::Loop::greet(ClientId id, ServerConnection& connection, ConstBytes message) {
  const std::string refusal = connection.greet(message, token_);
  if (refusal.empty()) --strangers_;
  if (!connection.flush() || !refusal.empty()) close(id, refusal);
}

// Closing a client may produce further answers, by its last will.
void StoreServer::Loop::deliver() {
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
void StoreServer::Loop::settle(ClientId id, Client& client) {
  const bool busy = client.connection.has_output() || service_.is_waiting(id);
  std::uint32_t interest = EPOLLRDHUP;
  if (!busy) interest |= EPOLLIN;
  if (client.connection.has_output()) interest |= EPOLLOUT;
  if (interest != client.interest) watch(EPOLL_CTL_MOD, client.connection.fd(), id, interest);
  client.interest = interest;
  next_check_ = std::min(next_check_, client.connection.limit());
}

void StoreServer::Loop::close(ClientId id, std::string_view reason) {
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

void StoreServer::Loop::give_up_on_the_stuck(Clock::time_point now) {
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

StoreServer::StoreServer(const std::string& address, std::string token, const StoreLimits& limits)
    : loop_(std::make_unique<Loop>(parse_address(address), std::move(token), limits)) {}
StoreServer::~StoreServer() = default;

std::string StoreServer::address() const { return loop_->address().str(); }
int StoreServer::port() const { return loop_->address().port; }

}  // namespace dist
