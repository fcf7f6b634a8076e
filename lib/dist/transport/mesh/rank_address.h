// RankAddress: what a rank publishes in the store so that the other ranks find it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/store/store.h"

namespace dist::net {

struct RankAddress {
  int rank = 0;
  int world_size = 1;
  std::string host;     // host_id(), or what replaces it
  std::string process;  // equal for ranks that are threads of one process
  int pid = 0;
  std::string pid_namespace;           // the machine and the namespace in which `pid` means something
  std::uint64_t shared_segment = 0;    // how threads of its process find it
  std::string local_address;           // "unix://@..."
  std::vector<std::string> addresses;  // "tcp://10.0.0.2:4711", best first
  std::vector<int> cpus;               // the CPUs that it may run on
  int cpu_quota = 0;                   // the limit of its container, in whole CPUs; 0: none

  std::string str() const;                                                      // JSON
  static RankAddress parse(const std::string& text, const std::string& where);  // Error{connection}
};

// What this process knows about itself; the addresses and the shared segment are left empty.
RankAddress describe_process();

// Every address of this machine by which another one may reach `port`: first the one that leads to `store`
// (its where()), then those of the other interfaces, the loopback device last. Where the store is on the
// loopback device (tcp://127.0.0.1:..) or a local socket, that address only. DIST_SOCKET_IFNAME (names,
// comma-separated) selects interfaces instead; Error{invalid_argument} lists those that are up when it names
// none of them.
std::vector<std::string> reachable_addresses(const std::string& store, int port);
// Where to listen so that these addresses lead here: on the loopback device if they are on it, else on all
// interfaces.
std::string listening_host(const std::string& store);

bool is_loopback(const std::string& host);
// "%eth0" for tcp://[fe80::1%eth0]:29500, else "". A link-local address (store/raw_address.h) is published
// without its scope, because each host has its own name for the link between them.
std::string scope_of(const std::string& store);

std::uint64_t random_number();

}  // namespace dist::net
