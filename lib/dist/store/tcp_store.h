// A store that one process keeps (StoreServer) and the others reach over a socket (make_tcp_store). Addresses
// are "tcp://host:port", or "unix://@name" for Linux's abstract sockets, which leave nothing behind. A client
// without any network may be given a connected socket: "fd://3".
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/store/store.h"

namespace dist {

// When the server gives up a connection. Tests use smaller values.
struct StoreLimits {
  Timeout hello = std::chrono::seconds(10);  // by then a newcomer must have greeted, however slowly it sends
  Timeout stall = std::chrono::seconds(60);  // a frame that has begun, or an unread reply, must make progress
  int strangers = 256;  // connections that have not greeted; beyond that the oldest is closed
};

// The server refuses strangers: a connection must open with this job's token. Frames are length-prefixed and
// at most 64 MiB; garbage closes that one connection and is logged, and the others go on. A host name, or an
// address that is not a loopback one, is served on all interfaces, since a name may mean another address on
// another host.
class StoreServer {
 public:
  // Listens at `address` (port 0: any free one). Throws Error{resource}, which names a port that is taken and
  // the option that chooses another.
  StoreServer(const std::string& address, std::string token, const StoreLimits& limits = {});
  ~StoreServer();  // closes all connections; clients get Error{connection}
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::string address() const;  // for clients to dial, with the real port
  int port() const;             // 0 for unix sockets

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// What the server sets, if the key is absent, once this client is gone: after a goodbye, a crash or a kill.
// It counts once the client has received the server's welcome, so not on a connection that was given up
// earlier.
struct LastWill {
  std::string key;  // empty: none
  std::string value;
};

// Connects, and retries until the deadline while nothing listens yet. Throws Error{connection}, which names
// the address, and says "refused this job's token" if that was the reason. The handle opens further
// connections when several threads call it at once, so that a blocked get() does not block other calls. After
// fork() it belongs to the parent: in the child every call throws Error{invalid_argument}, and the child
// makes its own.
std::shared_ptr<Store> make_tcp_store(const std::string& address, const std::string& token, Deadline deadline,
                                      const LastWill& will = {});

}  // namespace dist
