// Mailboxes in a hash table (find_or_make, make_buckets), each with its posted receives or unexpected
// messages. post() and take_posted() serve receives, keep_unexpected() and take_unexpected() unexpected
// messages; unreceived*() and next_collective() find messages that no collective on this rank received.
#include "dist/transport/engine/matching.h"

#include <utility>

#include "dist/transport/transport.h"

namespace dist::net {
namespace {

// An unexpected message's buffer above this size is given back to the system.
constexpr std::size_t kept_payload_bytes = 64 * 1024;

// The library's own messages have no opcode.
bool is_collective(const Frame& frame) { return !frame.has(flag_point_to_point) && frame.opcode != 0; }

// Takes a free element, or makes one.
template <class T>
T& take(std::vector<T*>& free, std::deque<T>& all) {
  if (free.empty()) return all.emplace_back();
  T& item = *free.back();
  free.pop_back();
  return item;
}

}  // namespace

std::size_t Matching::bucket_of(const MailboxKey& key) const {
  const std::uint64_t mixed =
      (key.tag + key.context * std::uint64_t{0x9e3779b97f4a7c15}) * 2 + key.point_to_point;
  return (mixed ^ mixed >> 32) & last_bucket_;
}

void Matching::add_to_bucket(Mailbox& box) {
  Mailbox*& head = buckets_[bucket_of(box.key)];
  box.next_in_bucket = head;
  head = &box;
}

void Matching::make_buckets(std::size_t count) {
  const std::vector<Mailbox*> before = std::exchange(buckets_, std::vector<Mailbox*>(count));
  last_bucket_ = count - 1;
  for (Mailbox* box : before)
    while (box) add_to_bucket(*std::exchange(box, box->next_in_bucket));
}

Mailbox* Matching::find(const MailboxKey& key) const {
  for (Mailbox* box = buckets_[bucket_of(key)]; box; box = box->next_in_bucket)
    if (box->key == key) return box;
  return nullptr;
}

Mailbox& Matching::find_or_make(const MailboxKey& key) {
  if (Mailbox* box = find(key)) return *box;
  if (boxes_.size() - free_boxes_.size() == buckets_.size()) make_buckets(2 * buckets_.size());
  Mailbox& box = take(free_boxes_, boxes_);
  box.key = key;
  box.users = 0;
  add_to_bucket(box);
  return box;
}

void Matching::drop_if_unused(Mailbox& box) {
  if (box.users > 0 || !box.unexpected.empty()) return;
  Mailbox** link = &buckets_[bucket_of(box.key)];
  while (*link != &box) link = &(*link)->next_in_bucket;
  *link = box.next_in_bucket;
  box.lanes.clear();
  free_boxes_.push_back(&box);
}

Mailbox& Matching::open(const MailboxKey& key) {
  Mailbox& box = find_or_make(key);
  ++box.users;
  return box;
}

void Matching::close(Mailbox& box) {
  --box.users;
  drop_if_unused(box);
}

void Matching::post(Mailbox& box, Transfer& t) {
  t.order = ++posted_;
  box.lane_of(t.peer).posted.push_back(t);
}

// The earliest posted one among the receives from this source and those from any source.
Transfer* Matching::take_posted(const MailboxKey& key, int source) {
  Mailbox* const box = find(key);
  Transfer* first = nullptr;
  IntrusiveList<Transfer>* list = nullptr;
  if (!box) return nullptr;
  for (Mailbox::Lane& lane : box->lanes) {
    Transfer* const t = lane.source == source || lane.source == any_rank ? lane.posted.first() : nullptr;
    if (t && (!first || t->order < first->order)) first = t, list = &lane.posted;
  }
  if (first) list->remove(*first);
  return first;
}

UnexpectedMessage* Matching::take_unexpected(Mailbox& box, int source) {
  UnexpectedMessage* p = box.unexpected.first();
  if (p && source != any_rank && p->source != source) {
    const Mailbox::Lane* const lane = box.find(source);
    p = lane ? lane->unexpected.first() : nullptr;
  }
  if (!p) return nullptr;
  box.unexpected.remove(*p);
  box.lane_of(p->source).unexpected.remove(*p);
  if (is_collective(p->frame)) --collective_messages_;
  return p;
}

const UnexpectedMessage& Matching::keep_unexpected(const Frame& frame, int source, const std::byte* payload) {
  UnexpectedMessage& unexpected = take(free_messages_, messages_);
  unexpected.frame = frame;
  unexpected.source = source;
  unexpected.payload.assign(payload, payload + frame.payload());
  Mailbox& box = find_or_make(key_of(frame));
  box.unexpected.push_back(unexpected);
  box.lane_of(source).unexpected.push_back(unexpected);
  if (is_collective(frame)) ++collective_messages_;
  return unexpected;
}

template <class Wanted>
const UnexpectedMessage* Matching::find_parked(const Wanted& wanted) const {
  for (const Mailbox* box : buckets_)
    for (; box; box = box->next_in_bucket)
      if (const UnexpectedMessage* const first = box->unexpected.first();
          first && is_collective(first->frame) && wanted(box->key))
        return first;
  return nullptr;
}

const UnexpectedMessage* Matching::unreceived() const {
  return find_parked([](const MailboxKey&) { return true; });
}

const UnexpectedMessage* Matching::unreceived_before(const Channel& collective) const {
  if (collective_messages_ == 0 || collective.opcode == 0 || collective.point_to_point) return nullptr;
  return find_parked(
      [&](const MailboxKey& key) { return key.context == collective.context && key.tag < collective.tag; });
}

const Mailbox* Matching::next_collective(const Frame& frame) const {
  const Mailbox* const box = is_collective(frame) ? find({frame.context, false, frame.tag + 1}) : nullptr;
  return box && box->users > 0 ? box : nullptr;
}

void Matching::withdraw(const MailboxKey& key, int source, std::uint64_t id) {
  Mailbox* box = find(key);
  for (UnexpectedMessage* p = box ? box->unexpected.first() : nullptr; p; p = p->next)
    if (p->source == source && p->frame.id == id) p->frame.flags |= flag_withdrawn;
}

void Matching::recycle(UnexpectedMessage& unexpected) {
  if (unexpected.payload.capacity() > kept_payload_bytes) std::vector<std::byte>().swap(unexpected.payload);
  free_messages_.push_back(&unexpected);
}

}  // namespace dist::net
