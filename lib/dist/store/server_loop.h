// The server's one thread: accepts, greets, reads requests, sends replies, and closes connections that
// misbehave.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dist/core/handles.h"
#include "dist/core/memory/private_fd.h"
#include "dist/store/descriptor_shortage.h"
#include "dist/store/server_connection.h"
#include "dist/store/socket.h"
#include "dist/store/store_service.h"
#include "dist/store/tcp_store.h"

namespace dist {

class ServerLoop {
 public:
  ServerLoop(const SocketAddress& address, std::string token, const StoreLimits& limits);

  const SocketAddress& address() const { return address_; }
  void run();   // until stop()
  void stop();  // from any thread
  // Closes the listener and all connections, even if a forked child still holds copies of the descriptors.
  void shut_down();

 private:
  using Clock = Deadline::Clock;
  using ClientId = StoreService::ClientId;

  struct Client {
    ServerConnection connection;
    std::uint32_t interest;  // the events epoll reports
  };
  void watch(int operation, int fd, std::uint64_t id, std::uint32_t events);
  int wait_ms() const;
  void accept_clients();
  void make_room();
  void on_event(ClientId id, std::uint32_t events);
  void serve(ClientId id, ServerConnection& connection);
  void greet(ClientId id, ServerConnection& connection, ConstBytes message);
  void deliver();
  void settle(ClientId id, Client& client);
  void close(ClientId id, std::string_view reason);  // an empty reason: the client left by itself
  void give_up_on_the_stuck(Clock::time_point now);

  SocketAddress address_;
  std::string token_;
  StoreLimits limits_;
  PrivateFd listener_;
  UniqueFd wake_, epoll_;
  std::map<ClientId, Client> clients_;  // in the order in which they came
  int strangers_ = 0;                   // clients that have not greeted yet
  ClientId next_id_;
  StoreService service_;
  StoreService::Answers answers_;                            // to be delivered in this round
  Clock::time_point next_check_ = Clock::time_point::max();  // not later than the first limit of a client
  DescriptorShortage shortage_;
};

}  // namespace dist
