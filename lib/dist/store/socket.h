// Stream sockets by address: "tcp://host:port", "tcp://[::1]:29500", "unix://@name", "fd://3".
#pragma once

#include <string>
#include <string_view>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"

namespace dist {

struct SocketAddress {
  std::string host;  // for tcp, without brackets
  int port = 0;
  std::string name;  // a Linux abstract unix socket; it vanishes with its last descriptor
  int given = -1;    // a connected socket that this process was started with; dialled once

  bool is_unix() const { return !name.empty(); }
  std::string str() const;
};

// Throws Error{invalid_argument}, which quotes the text.
SocketAddress parse_address(std::string_view text);

// A non-blocking listener. It serves a loopback address there, any other host on all interfaces. Throws
// Error{resource} if the port is taken (and says how to choose another), or the system refused.
UniqueFd listen_at(const SocketAddress& address);
int local_port(int fd);

// A connected, non-blocking socket, or none and the reason.
struct Dialled {
  UniqueFd fd;
  std::string problem;  // "Connection refused"
};
// Returns once one of the host's addresses is connected, all have failed, or the deadline has passed.
Dialled dial(const SocketAddress& address, Deadline deadline);

// Makes small messages leave at once. A peer whose host is gone, or that reads nothing, is noticed within
// half a minute.
void tune_stream(int fd);
// "10.0.0.2:4711" or "a local process"; for messages.
std::string peer_name(int fd);
// Waits until `fd` is ready for `events` (those of poll). Returns false if the deadline passed first.
bool wait_ready(int fd, short events, Deadline deadline);

}  // namespace dist
