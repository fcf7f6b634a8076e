// Matching: messages meet receives first-in first-out for each (source, context, point-to-point, tag). The
// same code serves every kind of link.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "dist/transport/endpoint.h"
#include "dist/transport/engine/intrusive_list.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/link/frame.h"
#include "dist/transport/report.h"

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
struct UnexpectedMessage {
  Frame frame;
  int source = 0;
  std::vector<std::byte> payload;
  Unreceived unreceived() const { return {source, frame.opcode, frame.tag}; }
  UnexpectedMessage *next = nullptr, *prev = nullptr;                      // in its mailbox
  UnexpectedMessage *next_of_source = nullptr, *prev_of_source = nullptr;  // and of its source's there
};

// What waits at one key: receives for messages, or messages for receives.
struct Mailbox {
  // Of one rank: how long what waits for one rank is must not matter to another.
  struct Lane {
    int source = 0;
    IntrusiveList<Transfer> posted = {};
    IntrusiveList<UnexpectedMessage, &UnexpectedMessage::next_of_source, &UnexpectedMessage::prev_of_source>
        unexpected = {};
  };
  Lane* find(int source) {
    for (Lane& lane : lanes)
      if (lane.source == source) return &lane;
    return nullptr;
  }
  Lane& lane_of(int source) {
    Lane* const lane = find(source);
    return lane ? *lane : lanes.emplace_back(Lane{source});
  }

  MailboxKey key;
  int users = 0;            // open operations
  std::vector<Lane> lanes;  // any_rank's too: of receives only
  IntrusiveList<UnexpectedMessage> unexpected;
  Mailbox* next_in_bucket = nullptr;
};

// Not synchronised. Boxes and unexpected messages are kept for reuse: nothing is allocated once all sizes
// were seen.
class Matching {
 public:
  Mailbox& open(const MailboxKey& key);
  void close(Mailbox& box);
  bool is_open(const MailboxKey& key) const { return find(key) != nullptr; }  // or messages wait there

  void post(Mailbox& box, Transfer& t);  // a receive from t.peer
  void withdraw(Transfer& t, Mailbox& box) { box.lane_of(t.peer).posted.remove(t); }
  Transfer* take_posted(const MailboxKey& key, int source);  // nullptr: nobody waits for it
  // The first message from `source` (or any_rank), to be given back by recycle(). nullptr: none.
  UnexpectedMessage* take_parked(Mailbox& box, int source);
  const UnexpectedMessage& park(const Frame& frame, int source, const std::byte* payload);
  void recycle(UnexpectedMessage& unexpected);
  // A message of a collective that waits for its receive; nullptr: none.
  const UnexpectedMessage* unreceived() const;
  // The same of one before that collective, in its group.
  const UnexpectedMessage* unreceived_before(const Channel& collective) const;
  // Where the collective after this message's, in its group, waits for messages; nullptr: it does not.
  const Mailbox* next_collective(const Frame& frame) const;
  // Marks the offer `id` of that source, if it is unexpected there, with flag_withdrawn.
  void withdraw(const MailboxKey& key, int source, std::uint64_t id);

 private:
  static constexpr std::size_t fewest_buckets = 256;
  std::size_t bucket_of(const MailboxKey& key) const;
  void add_to_bucket(Mailbox& box);
  void make_buckets(std::size_t count);
  Mailbox* find(const MailboxKey& key) const;
  Mailbox& find_or_make(const MailboxKey& key);
  void drop_if_unused(Mailbox& box);
  template <class Wanted>
  const UnexpectedMessage* find_parked(const Wanted& wanted) const;

  std::vector<Mailbox*> buckets_ = std::vector<Mailbox*>(fewest_buckets);  // a power of two of them
  std::size_t last_bucket_ = fewest_buckets - 1;
  std::deque<Mailbox> boxes_;
  std::vector<Mailbox*> free_boxes_;
  std::deque<UnexpectedMessage> messages_;
  std::vector<UnexpectedMessage*> free_messages_;
  std::size_t collective_messages_ = 0;  // unexpected
  std::uint64_t posted_ = 0;             // receives, so far
};

}  // namespace dist::net
