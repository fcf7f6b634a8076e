#include "dist/store/socket.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

// A kernel address of any family.
struct RawAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  friend bool operator==(const RawAddress& a, const RawAddress& b) {
    return a.length == b.length && std::memcmp(&a.storage, &b.storage, a.length) == 0;
  }
};

RawAddress unix_address(const std::string& name) {
  RawAddress raw;
  auto* un = reinterpret_cast<sockaddr_un*>(&raw.storage);
  un->sun_family = AF_UNIX;
  name.copy(un->sun_path + 1, sizeof(un->sun_path) - 1);
  raw.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return raw;
}

// All addresses of the host, in the resolver's order; empty and the reason when there are none.
std::vector<RawAddress> resolve(const SocketAddress& address, int flags, std::string* problem) {
  if (address.is_unix()) return {unix_address(address.name)};
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (code != 0) {
    *problem = code == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(code);
    return {};
  }
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  std::vector<RawAddress> found;
  for (const addrinfo* it = list; it; it = it->ai_next) {
    RawAddress raw;
    std::memcpy(&raw.storage, it->ai_addr, it->ai_addrlen);
    raw.length = it->ai_addrlen;
    found.push_back(raw);
  }
  return found;
}

UniqueFd stream_socket(int family) {
  return UniqueFd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);  // an option the system lacks is one we do without
}

bool is_loopback(const RawAddress& raw) {
  if (raw.storage.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(&raw.storage)->sin_addr.s_addr) >> 24) == 127;
  }
  return raw.storage.ss_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&raw.storage)->sin6_addr);
}

RawAddress wildcard(int family, int port) {
  RawAddress raw;
  raw.storage.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&raw.storage)->sin_port = htons(static_cast<std::uint16_t>(port));
    raw.length = sizeof(sockaddr_in);
  } else {
    reinterpret_cast<sockaddr_in6*>(&raw.storage)->sin6_port = htons(static_cast<std::uint16_t>(port));
    raw.length = sizeof(sockaddr_in6);
  }
  return raw;
}

// Where a server of this address listens: candidates in order of preference. Only literal loopback addresses
// and "localhost" are taken at their word; a host's own name often resolves to 127.0.1.1, where no one else
// reaches it.
std::vector<RawAddress> listening_places(const SocketAddress& address) {
  std::string problem;
  const bool literal_only = address.host != "localhost";
  auto places = resolve(address, literal_only ? AI_NUMERICHOST : 0, &problem);
  if (address.is_unix() || (!places.empty() && is_loopback(places.front()))) return places;
  return {wildcard(AF_INET6, address.port), wildcard(AF_INET, address.port)};
}

[[noreturn]] void fail_taken(const SocketAddress& address) {
  if (address.is_unix()) {
    fail(Errc::resource, "store: the local socket name {} is taken; does another job with this id run here?",
         address.str());
  }
  fail(Errc::resource,
       "store: port {} of {} is taken, perhaps by another job; choose another with MASTER_PORT or distrun "
       "--master-port (or --rdzv-endpoint host:port), or let distrun --standalone find a free one",
       address.port, address.host);
}

// 0 or the errno of an attempt to connect before the deadline.
int connect_fd(int fd, const RawAddress& to, Deadline deadline) {
  if (connect(fd, to.get(), to.length) == 0) return 0;
  if (errno == EINTR) errno = EINPROGRESS;
  if (errno != EINPROGRESS) return errno;
  if (!wait_ready(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

// A connection to a free port of the ephemeral range can meet itself (TCP's simultaneous open).
bool is_connected_to_itself(int fd) {
  RawAddress here, there;
  getsockname(fd, here.get(), &here.length);
  getpeername(fd, there.get(), &there.length);
  return here.storage.ss_family != AF_UNIX && here == there;
}

// Nothing stays at the descriptor's place, so that a second time neither finds the connection nor what took
// the number.
Dialled take_given(int given) {
  Dialled result;
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(given, SOL_SOCKET, SO_TYPE, &type, &size) == 0)
    result.fd = UniqueFd(fcntl(given, F_DUPFD_CLOEXEC, 0));
  if (!result.fd) {
    result.problem = "no socket was given to this process there, or it is in use already";
    return result;
  }
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup3(nothing.get(), given, O_CLOEXEC);
  fcntl(result.fd.get(), F_SETFL, O_NONBLOCK);
  tune_stream(result.fd.get());
  return result;
}

}  // namespace

UniqueFd listen_at(const SocketAddress& address) {
  if (address.given >= 0)
    fail(Errc::invalid_argument, "store: {} is a connection, not a place to listen", address.str());
  int error = EAFNOSUPPORT;
  for (const RawAddress& place : listening_places(address)) {
    UniqueFd fd = stream_socket(place.storage.ss_family);
    if (!fd) {
      error = errno;
      continue;  // a machine without IPv6
    }
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (place.storage.ss_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd.get(), place.get(), place.length) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
    error = errno;
    if (error == EADDRINUSE) fail_taken(address);
  }
  fail_errno(Errc::resource, error, fmt::format("store: cannot listen at {}", address.str()));
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
  if (address.given >= 0) return take_given(address.given);
  Dialled result;
  const auto places = resolve(address, 0, &result.problem);
  result.resolved = !places.empty();
  for (const RawAddress& place : places) {
    UniqueFd fd = stream_socket(place.storage.ss_family);
    int error = fd ? connect_fd(fd.get(), place, deadline) : errno;
    if (error == 0 && is_connected_to_itself(fd.get())) error = ECONNREFUSED;
    if (error == 0) {
      tune_stream(fd.get());
      result.fd = std::move(fd);
      return result;
    }
    result.problem = std::strerror(error);
  }
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
