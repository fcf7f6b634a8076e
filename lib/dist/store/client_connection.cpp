#include "dist/store/client_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
constexpr Timeout first_dial_pause = 5ms, longest_dial_pause = 250ms;  // between attempts
constexpr Timeout attempt = 10s;        // for a connection to be made, and for the welcome
constexpr Timeout name_patience = 15s;  // for a host name to become known
constexpr Timeout silence_to_report = 10s;
constexpr int hangups_to_believe = 10;  // a store that is just ending hangs up too, but not so often

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
  fail(Errc::connection, "store {}: what answers there is no distlab store; is the port another program's?",
       where);
}

}  // namespace

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

// 0, or the errno of a server that was there but did not answer.
int ClientConnection::greet(const std::string& token, const LastWill& will, Deadline deadline) {
  wire::Writer greeting;
  greeting.put(wire::magic).put(wire::version).put(std::string_view(token));
  greeting.put(std::string_view(will.key)).put(std::string_view(will.value));
  Bytes message;
  if (const int error = send_all(greeting.finish(), deadline)) return error;
  if (const int error = receive_frame(message, wire::max_greeting, deadline)) return error;
  wire::Reader in(message);
  if (message.size() < sizeof wire::magic || in.get<std::uint64_t>() != wire::magic) fail_foreign(where_);
  if (static_cast<wire::Status>(in.get<std::uint8_t>()) == wire::Status::ok) return 0;
  fail(Errc::connection,
       "store {} {}; does it belong to another job? (DIST_JOB_TOKEN must be equal on all ranks)", where_,
       in.text());
}

ClientConnection ClientConnection::open(const Server& server, const LastWill& will, Deadline deadline) {
  const std::string where = server.address.str();
  const auto since = Deadline::Clock::now();
  bool reported = false;
  int hangups = 0;
  for (Timeout pause = first_dial_pause;; pause = std::min(2 * pause, longest_dial_pause)) {
    const Deadline patience = Deadline::sooner(deadline, Deadline::after(attempt));
    Dialled dialled = dial(server.address, patience);
    bool hopeless = server.is_up;
    if (dialled.fd) {
      ClientConnection connection(std::move(dialled.fd), where);
      const int error = connection.greet(server.token, will, patience);
      if (error == 0) return connection;
      dialled.problem = fmt::format("connected, but was not welcomed: {}", std::strerror(error));
      hopeless = error != ETIMEDOUT && ++hangups >= hangups_to_believe;
    }
    const Timeout waited = Deadline::Clock::now() - since;
    if (!dialled.resolved && waited > name_patience) hopeless = true;
    if (hopeless || deadline.passed()) {
      fail(Errc::connection,
           "store {}: not reached in {} ms: {}; is the process that keeps it (rank 0 or the launcher) "
           "running, and "
           "is the address right?",
           where, std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), dialled.problem);
    }
    if (!reported && waited > silence_to_report) {
      log(LogLevel::warn, "store {}: not reached yet ({}); still trying", where, dialled.problem);
      reported = true;
    }
    std::this_thread::sleep_for(std::min(pause, deadline.left()));
  }
}

Bytes ClientConnection::ask(ConstBytes request, Deadline deadline) {
  Bytes reply;
  int error = send_all(request, deadline);
  if (error == 0) error = receive_frame(reply, wire::max_frame, deadline);
  if (error == 0) return reply;
  if (error == ETIMEDOUT)
    fail(Errc::connection, "store {}: it does not answer; is its process stopped?", where_);
  fail(Errc::connection,
       "store {}: lost ({}); is the process that keeps it (rank 0 or the launcher) still alive?", where_,
       std::strerror(error));
}

void ClientConnection::shut_down() noexcept { shutdown(fd_.get(), SHUT_RDWR); }

}  // namespace dist
