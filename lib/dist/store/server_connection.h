// One client's socket on the server's side: whole frames in, whole frames out, never blocking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"
#include "dist/core/memory/private_fd.h"
#include "dist/store/tcp_store.h"

namespace dist {

class ServerConnection {
 public:
  using Clock = Deadline::Clock;
  ServerConnection(UniqueFd fd, const StoreLimits& limits);

  int fd() const { return fd_.get(); }
  const std::string& peer() const { return peer_; }
  bool has_greeted() const { return greeted_; }
  // Reads the client's greeting, and queues the welcome or, where it does not belong to this job, the
  // refusal, which is returned. Throws Error{connection} for a stranger.
  std::string greet(ConstBytes message, const std::string& token);
  // Empty until the client has made a request: a client without one may have left before the welcome reached
  // it, and may have connected again.
  LastWill will() const { return has_asked_ ? will_ : LastWill{}; }
  void note_request() { has_asked_ = true; }

  // Reads what is there, a bounded amount at a time. Returns false if the peer has closed or the connection
  // broke.
  bool fill();
  // The message that has arrived whole, if there is one, without its length; valid until drop_frame(). Throws
  // Error{connection} for one that is longer than allowed (as soon as its length is known) or is followed by
  // more bytes: a client waits for its reply before it sends more.
  std::optional<ConstBytes> frame() const;
  void drop_frame();

  void queue(Bytes frame);  // one reply at a time
  bool flush();             // sends as much as possible; false: broken
  bool has_output() const { return sent_ < out_.size(); }

  // When the server must give it up unless something happens before: see StoreLimits. time_point::max():
  // never.
  Clock::time_point limit() const;
  bool has_news() const;  // input, or room for the reply, that the server was too slow to notice

 private:
  PrivateFd fd_;
  std::string peer_;
  StoreLimits limits_;
  Bytes in_, out_;
  std::size_t sent_ = 0;
  bool greeted_ = false, has_asked_ = false;
  LastWill will_;
  Clock::time_point accepted_ = Clock::now(), progressed_ = accepted_;
};

}  // namespace dist
