// The link of a rank to itself: a frame is handled when it is sent.
#pragma once

#include <cstring>
#include <memory>

#include "dist/transport/link/link.h"

namespace dist::net {

class SelfLink final : public Link {
 public:
  SelfLink(int rank, LinkEvents& events, std::shared_ptr<SharedSegment> shared_segment)
      : Link(rank, events, &same_memory_), shared_segment_(std::move(shared_segment)) {}
  std::string_view kind() const override { return "self"; }
  std::size_t eager_limit() const override { return shared_eager_bytes; }
  bool poll() override { return false; }
  SharedSegment* shared_segment() const override { return shared_segment_.get(); }

 private:
  bool put(OutFrame& out) override {
    const Frame& frame = out.frame;
    if (frame.kind != FrameKind::data) {
      events_.on_frame(peer_, frame, out.payload);
      return true;
    }
    if (std::byte* to = events_.data_target(frame.other(), frame.payload()))
      std::memcpy(to, out.payload, frame.payload());
    events_.on_data(frame.other(), frame.payload());
    return true;
  }
  std::size_t piece_bytes() const override { return tcp_piece_bytes; }

  SameMemory same_memory_;
  std::shared_ptr<SharedSegment> shared_segment_;
};

}  // namespace dist::net
