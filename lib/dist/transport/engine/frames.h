// The frames with which a transfer begins and ends, and which message fits which receive.
#pragma once

#include <cstdint>

#include "dist/transport/endpoint.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/link/frame.h"

namespace dist::net {

inline Frame frame_for(FrameKind kind, const Channel& channel) {
  Frame frame{.kind = kind};
  frame.flags = channel.point_to_point ? flag_point_to_point : 0;
  frame.context = channel.context;
  frame.opcode = channel.opcode;
  frame.tag = channel.tag;
  frame.set_elements(channel.elements);
  return frame;
}

// An eager frame, or an offer.
inline Frame send_frame(FrameKind kind, const Transfer& t, const Channel& channel) {
  Frame frame = frame_for(kind, channel);
  frame.bytes = t.bytes;
  frame.id = t.id;
  if (kind == FrameKind::eager && t.wants_ack) frame.flags |= flag_wants_ack;
  return frame;
}

// Whether a message fits a receive of `bytes` bytes.
inline bool fits(const Frame& message, const Channel& channel, std::uint64_t bytes) {
  const std::uint32_t mine = channel.opcode, theirs = message.opcode;
  return message.bytes == bytes && (mine == 0 || theirs == 0 || mine == theirs) &&
         (channel.elements == 0 || !elements_differ(message.elements(), channel.elements));
}

}  // namespace dist::net
