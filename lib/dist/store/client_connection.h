// One connection of a client to the store: it sends a request, then receives the reply.
#pragma once

#include <string>

#include "dist/core/handles.h"
#include "dist/core/memory/private_fd.h"
#include "dist/store/socket.h"
#include "dist/store/tcp_store.h"
#include "dist/store/wire.h"

namespace dist {

class ClientConnection {
 public:
  struct Server {
    SocketAddress address;
    std::string token;
    bool is_up = false;  // it has answered before, so a refused connection means that it is gone
  };
  // Dials and greets, again and again until the deadline if nothing answers. A connection that was made is
  // kept until the store answers on it, however late that is. Throws Error{connection}, which says how each
  // attempt ended.
  static ClientConnection open(const Server& server, const LastWill& will, Deadline deadline);

  // Sends a request's frame and returns the reply's message. Throws Error{connection} when the server is
  // gone, or silent until the deadline; the connection is unusable then.
  Bytes ask(ConstBytes request, Deadline deadline);
  // Closes it for the server, even if a forked child still holds a copy of the descriptor.
  void shut_down() noexcept;

 private:
  class Opening;
  ClientConnection(UniqueFd fd, std::string where) : fd_(std::move(fd)), where_(std::move(where)) {}
  // These return 0 or an errno: ECONNRESET when the server has closed, ETIMEDOUT at the deadline.
  int greet(const std::string& token, const LastWill& will, Deadline deadline);
  int hear_welcome(const LastWill& will, Deadline deadline);
  int try_to_ask(ConstBytes request, Bytes& reply, Deadline deadline);
  int send_all(ConstBytes bytes, Deadline deadline);
  int receive_frame(Bytes& message, std::size_t longest, Deadline deadline);

  PrivateFd fd_;
  std::string where_;
};

}  // namespace dist
