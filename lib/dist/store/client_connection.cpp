// ClientConnection: opening one (dial, greet, wait for the welcome, again and again until the deadline), and
// one request with its reply. Opening sends the greeting on every connection that it makes, and takes the one
// on which the store answers first.
#include "dist/store/client_connection.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/store/address_problems.h"
#include "dist/store/dialler.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
constexpr Timeout name_patience = 15s;  // until a host name resolves
constexpr auto silence_to_report = 10s, unreachable_to_report = 1s;
constexpr int hangups_to_believe = 10;  // a store that is just ending hangs up too, but less often

// These return 0 or an errno: ECONNRESET when the peer has closed, ETIMEDOUT at the deadline.
int receive_all(int fd, std::span<std::byte> into, Deadline deadline) {
  while (!into.empty()) {
    const ssize_t got = recv(fd, into.data(), into.size(), 0);
    if (got == 0) return ECONNRESET;
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_ready(fd, POLLIN, deadline)) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

[[noreturn]] void fail_foreign(const std::string& where) {
  fail(Errc::connection,
       "store {}: what answers there is not a distlab store; does another program use this port?", where);
}

}  // namespace

// Dials the store and greets it on every connection that is made. A connection on which the store is slow to
// answer is kept.
class ClientConnection::Opening {
 public:
  Opening(const Server& server, const LastWill& will, Deadline deadline)
      : server_(server), will_(will), deadline_(deadline), dialler_({server.address}) {}

  std::optional<ClientConnection> look();
  void check();  // throws Error{connection} once it can no longer succeed
  void wait() const;

 private:
  struct Greeted {
    ClientConnection connection;
    std::size_t place;
  };
  void reject(std::size_t place, int error);
  std::string problem() const;
  Timeout waited() const { return Deadline::Clock::now() - since_; }

  const Server& server_;
  const LastWill& will_;
  Deadline deadline_;
  Dialler dialler_;
  std::vector<Greeted> greeted_;  // not yet welcomed
  const Deadline::Clock::time_point since_ = Deadline::Clock::now();
  int hangups_ = 0;
  bool reported_ = false;
};

std::optional<ClientConnection> ClientConnection::Opening::look() {
  while (auto made = dialler_.poll()) {
    ClientConnection connection(std::move(made->fd), server_.address.str());
    const int error = connection.greet(server_.token, will_, deadline_);
    error == 0 ? greeted_.push_back({std::move(connection), made->place}) : reject(made->place, error);
  }
  for (std::size_t i = 0; i < greeted_.size(); ++i) {
    if (!wait_ready(greeted_[i].connection.fd_.get(), POLLIN, Deadline::after(0s))) continue;
    Greeted heard = std::move(greeted_[i]);
    greeted_.erase(greeted_.begin() + static_cast<std::ptrdiff_t>(i--));
    const int error = heard.connection.hear_welcome(will_, deadline_);
    if (error == 0) return std::move(heard.connection);
    reject(heard.place, error);
  }
  return std::nullopt;
}

void ClientConnection::Opening::reject(std::size_t place, int error) {
  ++hangups_;
  dialler_.reject(place, fmt::format("connected, but was not welcomed: {}", std::strerror(error)));
}

std::string ClientConnection::Opening::problem() const {
  const std::string what = greeted_.empty() ? dialler_.problems() : "connected, but was not welcomed";
  return what + loopback_problem();
}

void ClientConnection::Opening::check() {
  const bool is_lost = server_.is_up && dialler_.is_refused();
  const bool is_unknown = !dialler_.is_resolved() && waited() > name_patience;
  if (is_lost || is_unknown || hangups_ >= hangups_to_believe || deadline_.passed())
    fail(Errc::connection,
         "store {}: not reached in {} ms: {}; is the process that keeps it (rank 0 or the launcher) running, "
         "and is the address right?",
         server_.address.str(), std::chrono::duration_cast<std::chrono::milliseconds>(waited()).count(),
         problem());
  const bool is_unreachable = !dialler_.is_resolved() || !dialler_.silent(unreachable_to_report).empty();
  if (reported_ || waited() < (is_unreachable ? unreachable_to_report : silence_to_report)) return;
  reported_ = true;
  log(LogLevel::warn, "store {}: not reached yet: {}; still trying", server_.address.str(), problem());
}

void ClientConnection::Opening::wait() const {
  std::vector<pollfd> entries;
  for (const Greeted& greeted : greeted_) entries.push_back({greeted.connection.fd_.get(), POLLIN, 0});
  const Deadline next_look = Deadline::after(unreachable_to_report);
  dialler_.wait(reported_ ? deadline_ : Deadline::sooner(deadline_, next_look), std::move(entries));
}

int ClientConnection::send_all(ConstBytes bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t put = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_ready(fd_.get(), POLLOUT, deadline)) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int ClientConnection::receive_frame(Bytes& message, std::size_t longest, Deadline deadline) {
  std::array<std::byte, wire::prefix_bytes> prefix;
  if (const int error = receive_all(fd_.get(), prefix, deadline)) return error;
  const std::size_t length = wire::frame_length(prefix);
  if (length > longest) fail_foreign(where_);
  message.resize(length);
  return receive_all(fd_.get(), message, deadline);
}

int ClientConnection::greet(const std::string& token, const LastWill& will, Deadline deadline) {
  wire::Writer greeting;
  greeting.put(wire::magic).put(wire::version).put(std::string_view(token));
  greeting.put(std::string_view(will.key)).put(std::string_view(will.value));
  return send_all(greeting.finish(), deadline);
}

// A will counts from the first request on, so that a connection that was given up unanswered has none.
int ClientConnection::hear_welcome(const LastWill& will, Deadline deadline) {
  Bytes message;
  if (const int error = receive_frame(message, wire::max_greeting, deadline)) return error;
  wire::Reader in(message);
  if (message.size() < sizeof wire::magic || in.get<std::uint64_t>() != wire::magic) fail_foreign(where_);
  if (static_cast<wire::Status>(in.get<std::uint8_t>()) != wire::Status::ok)
    fail(Errc::connection, "store {} {}", where_, in.text());
  if (will.key.empty()) return 0;
  return try_to_ask(wire::Writer(wire::Command::check).put(std::span<const std::string>()).finish(), message,
                    deadline);
}

int ClientConnection::try_to_ask(ConstBytes request, Bytes& reply, Deadline deadline) {
  const int error = send_all(request, deadline);
  return error != 0 ? error : receive_frame(reply, wire::max_frame, deadline);
}

ClientConnection ClientConnection::open(const Server& server, const LastWill& will, Deadline deadline) {
  Opening opening(server, will, deadline);
  for (;;) {
    if (auto connection = opening.look()) return std::move(*connection);
    opening.check();
    opening.wait();
  }
}

Bytes ClientConnection::ask(ConstBytes request, Deadline deadline) {
  Bytes reply;
  const int error = try_to_ask(request, reply, deadline);
  if (error == 0) return reply;
  if (error == ETIMEDOUT)
    fail(Errc::connection, "store {}: it does not answer; is its process stopped?", where_);
  fail(Errc::connection,
       "store {}: lost ({}); is the process that keeps it (rank 0 or the launcher) still alive?", where_,
       std::strerror(error));
}

void ClientConnection::shut_down() noexcept { shutdown(fd_.get(), SHUT_RDWR); }

}  // namespace dist
