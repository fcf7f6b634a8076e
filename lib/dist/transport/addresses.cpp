// By which addresses other hosts may reach this one.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/store/socket.h"
#include "dist/transport/card.h"

namespace dist::net {
namespace {

std::string text_of(const sockaddr* address) {
  const socklen_t length = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> host{};
  const int code = ::getnameinfo(address, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? host.data() : "";
}

bool is_link_local(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

struct Interface {
  std::string name, address;
  bool is_loopback = false;
};

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* it = list; it; it = it->ifa_next) {
    if (!it->ifa_addr || (it->ifa_flags & IFF_UP) == 0 || is_link_local(it->ifa_addr)) continue;
    if (it->ifa_addr->sa_family != AF_INET && it->ifa_addr->sa_family != AF_INET6) continue;
    if (const std::string text = text_of(it->ifa_addr); !text.empty())
      found.push_back({it->ifa_name, text, (it->ifa_flags & IFF_LOOPBACK) != 0});
  }
  std::stable_partition(found.begin(), found.end(), [](const Interface& i) { return !i.is_loopback; });
  return found;
}

// This machine's address on the way to a store on another one; nothing is sent to find out.
std::string address_towards(const std::string& store) {
  if (!store.starts_with("tcp://")) return "";
  const SocketAddress target = parse_address(store);
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list) != 0) return "";
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  UniqueFd fd(::socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage here{};
  socklen_t length = sizeof here;
  auto* address = reinterpret_cast<sockaddr*>(&here);
  if (!fd || ::connect(fd.get(), list->ai_addr, list->ai_addrlen) != 0 ||
      ::getsockname(fd.get(), address, &length) != 0)
    return "";
  return text_of(address);
}

bool is_named(const std::string& interface, const std::string& names) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    if (interface == name) return true;
  return false;
}

}  // namespace

std::vector<std::string> reachable_addresses(const std::string& store, int port) {
  std::vector<Interface> found = interfaces();
  if (const char* names = std::getenv("DIST_SOCKET_IFNAME"); names && *names) {
    std::erase_if(found, [&](const Interface& i) { return !is_named(i.name, names); });
    if (found.empty())
      fail(Errc::invalid_argument,
           "DIST_SOCKET_IFNAME={} names no network interface that is up and has an address", names);
  }
  const std::string best = address_towards(store);
  std::stable_partition(found.begin(), found.end(),
                        [&](const Interface& i) { return !i.is_loopback && i.address == best; });
  std::vector<std::string> addresses;
  for (const Interface& i : found) {
    const SocketAddress address{.host = i.address, .port = port, .name = {}};
    addresses.push_back(address.str());
  }
  return addresses;
}

}  // namespace dist::net
