// The kernel's form of an address, of any family; the addresses of this machine.
#pragma once

#include <string>
#include <vector>

#include <sys/socket.h>

#include "dist/store/socket.h"

namespace dist {

struct RawAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  bool is_loopback() const;
  std::string str() const;  // like SocketAddress::str(), with a numeric address
  bool operator==(const RawAddress& other) const;
};

// All addresses of the host, in the resolver's order; empty, with the reason, when there are none. `flags`
// are getaddrinfo's.
std::vector<RawAddress> resolve(const SocketAddress& address, int flags, std::string* problem);

// Stands for every address of this machine.
RawAddress wildcard(int family, int port);

// A non-blocking socket; empty on failure, with errno set.
UniqueFd stream_socket(int family);

// A network interface of this machine that is up, with one of its addresses.
struct Interface {
  std::string name, address;  // numeric, without the scope of a link-local one
  bool is_loopback = false;
};

// Those that are up, once for each IPv4 and IPv6 address, in the system's order.
std::vector<Interface> interfaces();

// The numeric host of an IPv4 or IPv6 address, without its scope; "" if it has none.
std::string numeric_host(const sockaddr* address);

bool is_link_local(const std::string& host);

}  // namespace dist
