#include "dist/store/address_problems.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/store/raw_address.h"

namespace dist {

std::string loopback_problem() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* it = list; it; it = it->ifa_next)
    if ((it->ifa_flags & IFF_LOOPBACK) != 0 && (it->ifa_flags & IFF_UP) != 0) return "";
  return " (the loopback device of this host is down: ip link set lo up)";
}

static std::string addresses_of_this_machine() {
  std::vector<std::string> found;
  for (const Interface& i : interfaces())
    if (!i.is_loopback && !is_link_local(i.address)) found.push_back(i.address);
  return found.empty() ? "none but loopback's" : fmt::format("{}", fmt::join(found, ", "));
}

std::string foreign_address_problem(const SocketAddress& address) {
  if (address.given >= 0 || address.is_unix()) return "";
  std::string unknown;
  const std::vector<RawAddress> places = resolve(address, 0, &unknown);
  const auto is_own = [](RawAddress place) {  // such an address can be bound, at any free port
    if (place.family() == AF_INET) reinterpret_cast<sockaddr_in*>(&place.storage)->sin_port = 0;
    if (place.family() == AF_INET6) reinterpret_cast<sockaddr_in6*>(&place.storage)->sin6_port = 0;
    const UniqueFd fd = stream_socket(place.family());
    return !fd || bind(fd.get(), place.get(), place.length) == 0 || errno != EADDRNOTAVAIL;
  };
  if (places.empty() || std::any_of(places.begin(), places.end(), is_own)) return "";
  return fmt::format("{} is not an address of this machine, which has {}", address.host,
                     addresses_of_this_machine());
}

}  // namespace dist
