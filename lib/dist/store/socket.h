// Stream sockets by address: "tcp://host:port", "tcp://[::1]:29500", "unix://@name", "fd://3".
#pragma once

#include <string>
#include <string_view>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"

namespace dist {

struct SocketAddress {
  std::string host;  // of tcp, without brackets
  int port = 0;
  std::string name;  // of a Linux abstract unix socket; such sockets vanish with their last descriptor
  int given = -1;    // a connected socket that this process was started with; dialled once

  bool is_unix() const { return !name.empty(); }
  std::string str() const;
};

// Error{invalid_argument} quoting the text.
SocketAddress parse_address(std::string_view text);

// A non-blocking listener. A loopback address is served there, any other host on all interfaces.
// Error{resource}: the port is taken (and what chooses another), or the system refused.
UniqueFd listen_at(const SocketAddress& address);
int local_port(int fd);

// A connected, non-blocking socket, or nothing and why.
struct Dialled {
  UniqueFd fd;
  std::string problem;  // "Connection refused"
};
// Returns once one of the host's addresses is connected, all have failed, or the deadline has passed.
Dialled dial(const SocketAddress& address, Deadline deadline);

// What to add to a sentence about connections of this host: a reason, where its loopback device is down, by
// which its processes reach each other at any address; else "".
std::string loopback_trouble();

// Small messages leave at once, and a peer whose host is gone, or who reads nothing for so long, is noticed
// within half a minute.
void tune_stream(int fd);
// "10.0.0.2:4711", "a local process"; for messages.
std::string peer_name(int fd);
// Waits until `fd` is ready for `events` (poll's) or the deadline has passed: then false.
bool wait_ready(int fd, short events, Deadline deadline);

}  // namespace dist
