#include "dist/store/raw_address.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/un.h>

namespace dist {
namespace {

RawAddress unix_address(const std::string& name) {
  RawAddress raw;
  auto* un = reinterpret_cast<sockaddr_un*>(&raw.storage);
  un->sun_family = AF_UNIX;
  name.copy(un->sun_path + 1, sizeof(un->sun_path) - 1);
  raw.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return raw;
}

}  // namespace

bool RawAddress::operator==(const RawAddress& other) const {
  return length == other.length && std::memcmp(&storage, &other.storage, length) == 0;
}

bool RawAddress::is_loopback() const {
  if (family() == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr) >> 24) == 127;
  return family() == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr);
}

std::string RawAddress::str() const {
  if (family() == AF_UNIX) {
    const auto* un = reinterpret_cast<const sockaddr_un*>(&storage);
    return "unix://@" + std::string(un->sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(get(), length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  return SocketAddress{.host = host.data(), .port = std::atoi(port.data()), .name = {}}.str();
}

std::vector<RawAddress> resolve(const SocketAddress& address, int flags, std::string* problem) {
  if (address.is_unix()) return {unix_address(address.name)};
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int code = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (code != 0) {
    *problem = code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code);
    return {};
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  std::vector<RawAddress> found;
  for (const addrinfo* it = list; it; it = it->ai_next) {
    RawAddress raw;
    std::memcpy(&raw.storage, it->ai_addr, it->ai_addrlen);
    raw.length = it->ai_addrlen;
    found.push_back(raw);
  }
  return found;
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

UniqueFd stream_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::string numeric_host(const sockaddr* address) {
  const socklen_t length = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(address, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "";
  const std::string text(host.data());
  return text.substr(0, text.find('%'));
}

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* it = list; it; it = it->ifa_next) {
    if (!it->ifa_addr || (it->ifa_flags & IFF_UP) == 0) continue;
    if (it->ifa_addr->sa_family != AF_INET && it->ifa_addr->sa_family != AF_INET6) continue;
    std::string host = numeric_host(it->ifa_addr);
    if (!host.empty()) found.push_back({it->ifa_name, std::move(host), (it->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

bool is_link_local(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1 && IN6_IS_ADDR_LINKLOCAL(&address);
}

}  // namespace dist
