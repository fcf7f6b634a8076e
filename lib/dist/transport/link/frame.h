// Frame: the header of everything that travels between two ranks, on every kind of link.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dist::net {

enum class FrameKind : std::uint8_t {
  eager = 1,  // a message with its payload; flag wants_ack: notify the sender of its match, flag
              // by_stamp: in the next slot of the ring to it (frame_queue.h)
  offer,   // a large message: its description. flag direct: the receiver reads it at `address` under `claim`
  accept,  // answers an offer that is not direct: send it to the receive `other`
  data,    // a piece of an accepted message, for the receive `other`
  ack,     // the message `id` was matched (eager) or read (offer)
  refuse,  // the message `id` met a receive of `bytes` bytes and `opcode` that does not fit
  cancel,  // the sender of the message for the receive `other` gave up
  drop,    // the receiver of the message `id` gave up
  share,   // the message `id` is being read: a sender that waits may copy some of it to `address`
  withdraw,      // the sender of the offer `id` took its buffer back; what made it do so was sent before
  goodbye,       // this rank leaves; the payload is the reason, empty when all is well
  death_notice,  // the rank `id` died, as the payload says. Empty: it left in order, and an
                 // operation of this rank failed because of it
};
inline constexpr auto last_kind = FrameKind::death_notice;

inline constexpr std::uint8_t flag_point_to_point = 1;
inline constexpr std::uint8_t flag_wants_ack = 2;
inline constexpr std::uint8_t flag_direct = 4;
inline constexpr std::uint8_t flag_withdrawn = 8;  // on an unexpected offer
inline constexpr std::uint8_t flag_by_stamp = 16;
inline constexpr std::uint8_t flag_odd = 32;  // on the first, third, ... message that asks for a stamp
// On a frame that overwrites an answer after it has arrived: it answered the message that asked with this
// flag_odd.
inline constexpr std::uint8_t flag_answers = 64, flag_answers_odd = 128;

// Small payloads travel in the header itself, instead of `address` and `claim`.
inline constexpr std::uint32_t inline_payload = 16;  // bytes

struct Frame {
  FrameKind kind{};
  std::uint8_t flags = 0;
  std::uint16_t elements_high = 0;  // the high bits of elements()
  std::uint32_t context = 0;
  std::uint32_t opcode = 0;
  std::uint32_t elements_low = 0;
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;    // of the message; data: of the piece; goodbye, death notice: of the text
  std::uint64_t id = 0;       // the sender's number of its transfer
  std::uint64_t address = 0;  // offer: where the message is; accept, data, cancel: the receiver's transfer
  std::uint64_t claim = 0;    // offer: the word that guards the sender's buffer

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  std::uint64_t other() const { return address; }
  // The bytes that follow the frame, or that are in the frame itself.
  std::uint64_t payload() const {
    const bool follows = kind == FrameKind::eager || kind == FrameKind::data || kind == FrameKind::goodbye ||
                         kind == FrameKind::death_notice;
    return follows ? bytes : 0;
  }
  bool is_inline() const { return kind == FrameKind::eager && bytes <= inline_payload; }
  // The same as Channel::elements.
  std::uint64_t elements() const { return std::uint64_t{elements_high} << 32 | elements_low; }
  void set_elements(std::uint64_t number) {
    elements_high = static_cast<std::uint16_t>(number >> 32);
    elements_low = static_cast<std::uint32_t>(number);
  }
};
static_assert(sizeof(Frame) == 56 && std::is_trivially_copyable_v<Frame>);

}  // namespace dist::net
