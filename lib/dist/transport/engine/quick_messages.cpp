#include "dist/transport/engine/quick_messages.h"

#include <cstring>

#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/frames.h"
#include "dist/transport/engine/peers.h"
#include "dist/transport/engine/spin.h"
#include "dist/transport/engine/transfers.h"
#include "dist/transport/engine/waiting.h"
#include "dist/transport/link/shared_link.h"

namespace dist::net {
namespace {

constexpr int quick_looks = 200;  // polls, with pauses between them: some microseconds

// One in this many messages goes the full way, which also checks the connections and so notices dead ranks.
constexpr std::uint32_t messages_a_look_around = 64;

}  // namespace

// Null: there is no ring to that peer, or other messages or failures of this rank must be handled first.
RingLink* QuickMessages::ring_to(int peer) {
  if (peer < 0 || !connections_.has_cores() || waiting_.is_led() || ++count_ % messages_a_look_around == 0)
    return nullptr;
  return peers_.all_is_well() && peers_.is_present(peer) ? connections_.to(peer).ring() : nullptr;
}

bool QuickMessages::send(const TensorView& data, int peer, const MessageTerms& terms, Transfer*& sent) {
  RingLink* const ring = ring_to(peer);
  if (!ring || data.bytes() > ring->eager_limit()) return false;
  Transfer& t = transfers_.make(nobody_, true, peer, data);
  t.wants_ack = terms.mode == SendMode::rendezvous;
  Frame frame = send_frame(FrameKind::eager, t, terms.channel);
  if (t.wants_ack) ring->ask_for_stamp(frame);
  if (!ring->send_now(frame, t.data)) {
    ring->ask_no_more(t.id);
    transfers_.release(t);
    return false;
  }
  t.stage = Transfer::Stage::offered;
  bool is_done = !t.wants_ack;
  if (frame.has(flag_by_stamp))
    for (int i = 0; i < quick_looks && !is_done; ++i) {
      if (i > 0) relax_cpu();
      is_done = ring->is_answered(t.id);
    }
  if (is_done)
    transfers_.release(t);
  else
    sent = &t;
  return is_done;
}

bool QuickMessages::receive(const TensorView& data, int peer, const MessageTerms& terms) {
  const Channel& channel = terms.channel;
  const MailboxKey key = key_of(channel);
  RingLink* const ring = ring_to(peer);
  if (!ring || transfers_.is_awaited(key)) return false;
  for (int i = 0; i < quick_looks; ++i) {
    if (i > 0) relax_cpu();
    ring->fetch_payload(data.bytes());
    if (!ring->has_frame()) continue;
    const Frame& message = ring->frame();
    if (message.kind != FrameKind::eager || key_of(message) != key) return false;
    if (!fits(message, channel, data.bytes()) || ring->has_answer()) return false;
    if (message.bytes > 0) std::memcpy(data.data, ring->payload(), message.bytes);
    ring->acknowledge(message);
    ring->take();
    return true;
  }
  return false;
}

}  // namespace dist::net
