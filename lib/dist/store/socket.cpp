// Sockets of the store: where a server listens, how a client connects, the options of a stream, and names of
// peers. Listening on a host that is not a loopback address means listening on all interfaces.
#include "dist/store/socket.h"

#include <array>
#include <cerrno>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/store/address_problems.h"
#include "dist/store/dialler.h"
#include "dist/store/raw_address.h"

namespace dist {
namespace {

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);  // an option that the system lacks is not needed
}

// The addresses on which a server listens, in order of preference. Only literal loopback addresses and
// "localhost" are taken literally; a host's own name often resolves to 127.0.1.1, where no other host reaches
// it.
std::vector<RawAddress> listening_places(const SocketAddress& address) {
  std::string problem;
  const bool literal_only = address.host != "localhost";
  auto places = resolve(address, literal_only ? AI_NUMERICHOST : 0, &problem);
  if (address.is_unix() || (!places.empty() && places.front().is_loopback())) return places;
  return {wildcard(AF_INET6, address.port), wildcard(AF_INET, address.port)};
}

[[noreturn]] void fail_taken(const SocketAddress& address) {
  if (address.is_unix()) {
    fail(Errc::resource, "store: the local socket name {} is taken; does another job with this id run here?",
         address.str());
  }
  fail(Errc::resource,
       "store: port {} of {} is taken, perhaps by another job; choose another with MASTER_PORT (under "
       "torchrun: "
       "DIST_MASTER_PORT) or distrun --master-port, or let distrun --standalone find a free one",
       address.port, address.host);
}

}  // namespace

UniqueFd listen_at(const SocketAddress& address) {
  if (address.given >= 0)
    fail(Errc::invalid_argument, "store: {} is a connection, not a place to listen", address.str());
  int error = EAFNOSUPPORT;
  for (const RawAddress& place : listening_places(address)) {
    UniqueFd fd = stream_socket(place.family());
    if (!fd) {
      error = errno;
      continue;  // a machine without IPv6
    }
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (place.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd.get(), place.get(), place.length) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
    error = errno;
    if (error == EADDRINUSE) fail_taken(address);
  }
  fail_errno(Errc::resource, error,
             fmt::format("store: cannot listen at {}{}", address.str(), loopback_problem()));
}

int local_port(int fd) {
  RawAddress here;
  getsockname(fd, here.get(), &here.length);
  if (here.storage.ss_family == AF_INET)
    return ntohs(reinterpret_cast<sockaddr_in*>(&here.storage)->sin_port);
  if (here.storage.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6*>(&here.storage)->sin6_port);
  return 0;
}

Dialled dial(const SocketAddress& address, Deadline deadline) {
  Dialler dialler({address});
  Dialled result;
  for (bool is_last = false; !result.fd; is_last = deadline.passed()) {
    if (auto connection = dialler.poll()) result.fd = std::move(connection->fd);
    if (result.fd || is_last || dialler.has_failed()) break;
    dialler.wait(deadline);
  }
  result.problem = dialler.problems();
  return result;
}

void tune_stream(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);  // seconds
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);  // seconds
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);  // ms
}

std::string peer_name(int fd) {
  RawAddress peer;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getpeername(fd, peer.get(), &peer.length) != 0) return "a peer that has gone";
  if (peer.storage.ss_family == AF_UNIX) return "a local process";
  if (getnameinfo(peer.get(), peer.length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown peer";
  }
  return fmt::format("{}:{}", host.data(), port.data());
}

bool wait_ready(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, deadline.poll_ms());
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) fail_errno(Errc::resource, errno, "poll");
    if (deadline.passed()) return false;
  }
}

}  // namespace dist
