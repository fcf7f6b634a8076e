// A store kept by one process (StoreServer) and reached by the others over a socket (make_tcp_store).
// Addresses: "tcp://host:port", or "unix://@name" for Linux's abstract sockets, which leave nothing behind.
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/store/store.h"

namespace dist {

// Strangers are refused: a connection must open with this job's token. Frames are length-prefixed and at most
// 64 MiB; garbage closes that one connection and is logged, the others go on.
class StoreServer {
 public:
  // Listens at `address` (port 0: any free one). Error{resource} names a port that is taken and by which option
  // to choose another.
  StoreServer(const std::string& address, std::string token);
  ~StoreServer();  // connections are closed; clients get Error{connection}
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::string address() const;  // as a client should dial it, with the real port
  int port() const;             // 0 for unix sockets

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Connects, retrying until the deadline while nobody listens yet. Error{connection} names the address, and says
// "refused this job's token" when that was it.
std::shared_ptr<Store> make_tcp_store(const std::string& address, const std::string& token, Deadline deadline);

}  // namespace dist
