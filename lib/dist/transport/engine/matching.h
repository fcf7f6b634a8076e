// Matching: messages are matched with receives first-in first-out for each (source, context, point-to-point,
// tag). The same code serves every kind of link.
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

// A message that came before its receive was posted: an eager one with its bytes, or an offer.
struct UnexpectedMessage {
  Frame frame;
  int source = 0;
  std::vector<std::byte> payload;
  Unreceived unreceived() const { return {source, frame.opcode, frame.tag}; }
  UnexpectedMessage *next = nullptr, *prev = nullptr;                      // in its mailbox
  UnexpectedMessage *next_of_source = nullptr, *prev_of_source = nullptr;  // in its source's list there
};

// What waits at one key: receives for messages, or messages for receives.
struct Mailbox {
  // The queue of one rank: how many messages or receives of one rank wait must not slow down another rank's.
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
  int users = 0;            // the number of open operations
  std::vector<Lane> lanes;  // any_rank has one too, with receives only
  IntrusiveList<UnexpectedMessage> unexpected;
  Mailbox* next_in_bucket = nullptr;
};

// Not synchronised. Mailboxes and unexpected messages are reused: once all sizes have occurred, nothing is
// allocated.
class Matching {
 public:
  Mailbox& open(const MailboxKey& key);
  void close(Mailbox& box);
  bool is_open(const MailboxKey& key) const { return find(key) != nullptr; }  // or has messages waiting

  void post(Mailbox& box, Transfer& t);  // a receive from t.peer
  void withdraw(Transfer& t, Mailbox& box) { box.lane_of(t.peer).posted.remove(t); }
  Transfer* take_posted(const MailboxKey& key, int source);  // nullptr: no receive waits for it
  // The first message from `source` (or any_rank), to be given back by recycle(); nullptr: there is none.
  UnexpectedMessage* take_unexpected(Mailbox& box, int source);
  const UnexpectedMessage& keep_unexpected(const Frame& frame, int source, const std::byte* payload);
  void recycle(UnexpectedMessage& unexpected);
  // A message of a collective that still waits for its receive; nullptr: there is none.
  const UnexpectedMessage* unreceived() const;
  // The same for a message of an earlier collective of that group.
  const UnexpectedMessage* unreceived_before(const Channel& collective) const;
  // The mailbox where the collective that follows this message's in its group waits for messages; nullptr: it
  // does not wait.
  const Mailbox* next_collective(const Frame& frame) const;
  // Marks the offer `id` of that source with flag_withdrawn, if it is among the unexpected messages.
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

  std::vector<Mailbox*> buckets_ = std::vector<Mailbox*>(fewest_buckets);  // their number is a power of two
  std::size_t last_bucket_ = fewest_buckets - 1;
  std::deque<Mailbox> boxes_;
  std::vector<Mailbox*> free_boxes_;
  std::deque<UnexpectedMessage> messages_;
  std::vector<UnexpectedMessage*> free_messages_;
  std::size_t collective_messages_ = 0;  // the number of unexpected messages of collectives
  std::uint64_t posted_ = 0;             // counts receives
};

}  // namespace dist::net
