// A link over a TCP connection, to a rank on another host (or on this one, on request).
#pragma once

#include <vector>

#include "dist/core/handles.h"
#include "dist/core/memory/private_fd.h"
#include "dist/transport/link/link.h"

namespace dist::net {

class TcpLink final : public Link {
 public:
  TcpLink(int peer, LinkEvents& events, UniqueFd socket);
  std::string_view kind() const override { return "tcp"; }
  std::size_t eager_limit() const override { return tcp_eager_bytes; }
  bool poll() override;
  int fd() const override { return socket_.get(); }
  bool writes_to_fd() const override { return true; }
  bool is_unreachable() const override;
  bool was_cut() const override;

 private:
  bool put(OutFrame& out) override;
  std::size_t piece_bytes() const override { return tcp_piece_bytes; }
  void close() noexcept override { socket_.reset(); }

  std::size_t receive();  // one system call; returns the bytes that came, 0: none
  void parse();           // parses what is in the buffer
  bool take_frame();      // false: the next frame is not complete
  void take_data(std::size_t bytes);

  PrivateFd socket_;
  std::vector<std::byte> buffer_;    // frames with their payload, except data
  std::size_t begin_ = 0, end_ = 0;  // the part that is filled and not parsed
  std::uint64_t data_for_ = 0;       // the receive whose data is arriving
  std::size_t data_left_ = 0;        // bytes of the piece under way
  int error_ = 0;                    // errno of the read that found the connection broken
};

}  // namespace dist::net
