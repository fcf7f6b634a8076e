// By which addresses other hosts can reach this one: lists the network interfaces (interfaces), drops those
// that others cannot use, honours DIST_SOCKET_IFNAME (reachable_hosts), and puts the address that leads to
// the store first (address_towards).
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <netdb.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/store/raw_address.h"
#include "dist/store/socket.h"
#include "dist/transport/mesh/rank_address.h"

namespace dist::net {
namespace {

// A link-local address means something on its link only: it is kept only on the link by which the store is
// reached.
std::vector<Interface> interfaces(const std::string& store) {
  std::vector<Interface> found = dist::interfaces();
  std::erase_if(
      found, [&](const Interface& i) { return is_link_local(i.address) && scope_of(store) != "%" + i.name; });
  std::stable_partition(found.begin(), found.end(), [](const Interface& i) { return !i.is_loopback; });
  return found;
}

// This machine's address on the way to a store on another machine; nothing is sent to find out.
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
  return numeric_host(address);
}

// The loopback address at which only this machine reaches the store, or "".
std::string loopback_of(const std::string& store) {
  const std::string_view ipv4 = "127.0.0.1";
  if (store.starts_with("unix://")) return std::string(ipv4);
  if (!store.starts_with("tcp://")) return "";
  const std::string host = parse_address(store).host;
  if (host == "localhost") return std::string(ipv4);
  return is_loopback(host) ? host : "";
}

bool is_named(const std::string& interface, const std::string& names) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    if (interface == name) return true;
  return false;
}

std::string names_of(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  for (const Interface& i : interfaces)
    if (std::ranges::find(names, i.name) == names.end()) names.push_back(i.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// Hosts of this machine by which others may reach it; when all are on the loopback device, only one.
std::vector<std::string> reachable_hosts(const std::string& store) {
  std::vector<Interface> found = interfaces(store);
  if (const char* names = std::getenv("DIST_SOCKET_IFNAME"); names && *names) {
    const std::string all = names_of(found);
    std::erase_if(found, [&](const Interface& i) { return !is_named(i.name, names); });
    if (found.empty())
      fail(Errc::invalid_argument,
           "DIST_SOCKET_IFNAME={} names no network interface that is up and has an address; those that are: "
           "{}",
           names, all);
  } else if (const std::string loopback = loopback_of(store); !loopback.empty()) {
    return {loopback};
  }
  const std::string best = address_towards(store);
  std::stable_partition(found.begin(), found.end(),
                        [&](const Interface& i) { return !i.is_loopback && i.address == best; });
  std::vector<std::string> hosts;
  for (const Interface& i : found) hosts.push_back(i.address);
  if (!found.empty() && found.front().is_loopback) hosts.resize(1);
  return hosts;
}

}  // namespace

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

std::string scope_of(const std::string& store) {
  if (!store.starts_with("tcp://")) return "";
  const std::string host = parse_address(store).host;
  const auto at = host.find('%');
  return at == std::string::npos ? "" : host.substr(at);
}

std::string listening_host(const std::string& store) {
  const auto hosts = reachable_hosts(store);
  return hosts.size() == 1 && is_loopback(hosts.front()) ? hosts.front() : "0.0.0.0";
}

std::vector<std::string> reachable_addresses(const std::string& store, int port) {
  std::vector<std::string> addresses;
  for (const std::string& host : reachable_hosts(store))
    addresses.push_back(SocketAddress{.host = host, .port = port, .name = {}}.str());
  return addresses;
}

}  // namespace dist::net
