// One client's socket as the server sees it: whole frames in, whole frames out, never blocking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"
#include "dist/core/private_fd.h"
#include "dist/store/tcp_store.h"

namespace dist {

class ServerConnection {
 public:
  using Clock = Deadline::Clock;
  ServerConnection(UniqueFd fd, const StoreLimits& limits);

  int fd() const { return fd_.get(); }
  const std::string& peer() const { return peer_; }
  bool has_greeted() const { return greeted_; }
  void welcome(LastWill will);  // it proved to be one of ours
  // Empty until it has asked something, for it may have gone before it was welcomed, and called again.
  LastWill will() const { return has_asked_ ? will_ : LastWill{}; }
  void note_request() { has_asked_ = true; }

  // Reads what is there, a bounded amount at a time. False: the peer has closed or the connection broke.
  bool fill();
  // The message that has arrived whole, if there is one, without its length; valid until drop_frame().
  // Error{connection} for one longer than allowed (known as soon as its length is) or with bytes behind it: a
  // client waits for its reply before it says more.
  std::optional<ConstBytes> frame() const;
  void drop_frame();

  void queue(Bytes frame);  // one reply at a time
  bool flush();             // sends what goes; false: broken
  bool has_output() const { return sent_ < out_.size(); }

  // When it must be given up unless something happens before: see StoreLimits. time_point::max(): never.
  Clock::time_point limit() const;
  bool has_news() const;  // something to read, or room for the reply, that the server was too slow to see

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
