// Matching: messages meet receives first-in first-out for each (source, context, point-to-point, tag). The
// same code serves every kind of link.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "dist/transport/endpoint.h"
#include "dist/transport/frame.h"
#include "dist/transport/intrusive_list.h"
#include "dist/transport/transfer.h"

namespace dist::net {

struct MailboxKey {
  std::uint32_t context = 0;
  bool point_to_point = false;
  std::uint64_t tag = 0;
  friend bool operator==(const MailboxKey&, const MailboxKey&) = default;
};

inline MailboxKey key_of(const Frame& frame) {
  return {frame.context, frame.has(flag_point_to_point), frame.tag};
}

inline MailboxKey key_of(const Channel& channel) {
  return {channel.context, channel.point_to_point, channel.tag};
}

// A message that came before its receive: an eager one with its bytes, or an offer.
struct Parked {
  Frame frame;
  int source = 0;
  std::vector<std::byte> payload;
  Parked *next = nullptr, *prev = nullptr;
};

// What waits at one key: receives for messages, or messages for receives.
struct Mailbox {
  MailboxKey key;
  int users = 0;  // open operations
  IntrusiveList<Transfer> posted;
  IntrusiveList<Parked> parked;
  Mailbox* next_in_bucket = nullptr;
};

// Not synchronised. Boxes and parked messages are kept for reuse: nothing is allocated once all sizes were
// seen.
class Matching {
 public:
  Mailbox& open(const MailboxKey& key);
  void close(Mailbox& box);
  bool is_open(const MailboxKey& key) const { return find(key) != nullptr; }  // or messages wait there

  Transfer* take_posted(const MailboxKey& key, int source);  // nullptr: nobody waits for it
  // The first message from `source` (or any_rank), to be given back by recycle(). nullptr: none.
  Parked* take_parked(Mailbox& box, int source);
  void park(const Frame& frame, int source, const std::byte* payload);
  void recycle(Parked& parked);
  // A message of a collective that waits for its receive; nullptr: none.
  const Parked* unreceived() const;
  // Marks the offer `id` of that source, if it is parked there, with flag_withdrawn.
  void withdraw(const MailboxKey& key, int source, std::uint64_t id);

 private:
  static constexpr std::size_t bucket_count = 256;
  static std::size_t bucket_of(const MailboxKey& key);
  Mailbox* find(const MailboxKey& key) const;
  Mailbox& find_or_make(const MailboxKey& key);
  void drop_if_unused(Mailbox& box);

  std::array<Mailbox*, bucket_count> buckets_{};
  std::deque<Mailbox> boxes_;
  std::vector<Mailbox*> free_boxes_;
  std::deque<Parked> messages_;
  std::vector<Parked*> free_messages_;
};

}  // namespace dist::net
