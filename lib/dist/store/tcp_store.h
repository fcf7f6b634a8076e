// A store kept by one process (StoreServer) and reached by the others over a socket (make_tcp_store).
// Addresses: "tcp://host:port", or "unix://@name" for Linux's abstract sockets, which leave nothing behind. A
// client without any network may be given a connected socket: "fd://3".
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/store/store.h"

namespace dist {

// When a connection that was served is given up. Tests make these short.
struct StoreLimits {
  Timeout hello = std::chrono::seconds(10);  // a newcomer must have greeted by then, however it dribbles
  Timeout stall = std::chrono::seconds(60);  // a frame begun, or a reply unread, must make some progress
  int strangers = 256;  // connections that have not greeted yet; beyond it the oldest goes
};

// Strangers are refused: a connection must open with this job's token. Frames are length-prefixed and at most
// 64 MiB; garbage closes that one connection and is logged, the others go on. A host name or address that is
// not a loopback one is served on all interfaces, since a name may mean another address here than elsewhere.
class StoreServer {
 public:
  // Listens at `address` (port 0: any free one). Error{resource} names a port that is taken and by which
  // option to choose another.
  StoreServer(const std::string& address, std::string token, const StoreLimits& limits = {});
  ~StoreServer();  // connections are closed; clients get Error{connection}
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::string address() const;  // as a client should dial it, with the real port
  int port() const;             // 0 for unix sockets

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What the server sets, if the key is absent, once this client is gone: said goodbye, crashed or was killed.
// It counts once the client has heard the server's welcome: not on a connection that was given up before.
struct LastWill {
  std::string key;  // empty: none
  std::string value;
};

// Connects, retrying until the deadline while nobody listens yet. Error{connection} names the address, and
// says "refused this job's token" when that was it. The handle opens further connections while several
// threads call it at once, so that a blocked get() holds up nobody. After fork() it is the parent's: in the
// child every call is Error{invalid_argument}; the child makes its own.
std::shared_ptr<Store> make_tcp_store(const std::string& address, const std::string& token, Deadline deadline,
                                      const LastWill& will = {});

}  // namespace dist
