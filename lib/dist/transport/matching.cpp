#include "dist/transport/matching.h"

#include "dist/transport/transport.h"

namespace dist::net {
namespace {

// A parked message's buffer above this size is given back to the system.
constexpr std::size_t kept_payload_bytes = 64 * 1024;

// The next free element, made if there is none.
template <class T>
T& take(std::vector<T*>& free, std::deque<T>& all) {
  if (free.empty()) return all.emplace_back();
  T& item = *free.back();
  free.pop_back();
  return item;
}

}  // namespace

std::size_t Matching::bucket_of(const MailboxKey& key) {
  const std::uint64_t mixed =
      (key.tag + key.context * std::uint64_t{0x9e3779b97f4a7c15}) * 2 + key.point_to_point;
  return (mixed ^ mixed >> 32) % bucket_count;
}

Mailbox* Matching::find(const MailboxKey& key) const {
  for (Mailbox* box = buckets_[bucket_of(key)]; box; box = box->next_in_bucket)
    if (box->key == key) return box;
  return nullptr;
}

Mailbox& Matching::find_or_make(const MailboxKey& key) {
  if (Mailbox* box = find(key)) return *box;
  Mailbox& box = take(free_boxes_, boxes_);
  box.key = key;
  box.users = 0;
  Mailbox*& head = buckets_[bucket_of(key)];
  box.next_in_bucket = head;
  head = &box;
  return box;
}

void Matching::drop_if_unused(Mailbox& box) {
  if (box.users > 0 || !box.parked.empty()) return;
  Mailbox** link = &buckets_[bucket_of(box.key)];
  while (*link != &box) link = &(*link)->next_in_bucket;
  *link = box.next_in_bucket;
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

Transfer* Matching::take_posted(const MailboxKey& key, int source) {
  Mailbox* box = find(key);
  if (!box) return nullptr;
  for (Transfer* t = box->posted.first(); t; t = t->next) {
    if (t->peer != source && t->peer != any_rank) continue;
    box->posted.remove(*t);
    return t;
  }
  return nullptr;
}

Parked* Matching::take_parked(Mailbox& box, int source) {
  for (Parked* p = box.parked.first(); p; p = p->next) {
    if (p->source != source && source != any_rank) continue;
    box.parked.remove(*p);
    return p;
  }
  return nullptr;
}

void Matching::park(const Frame& frame, int source, const std::byte* payload) {
  Parked& parked = take(free_messages_, messages_);
  parked.frame = frame;
  parked.source = source;
  parked.payload.assign(payload, payload + frame.payload);
  find_or_make(key_of(frame)).parked.push_back(parked);
}

const Parked* Matching::unreceived() const {
  for (const Mailbox* box : buckets_)
    for (; box; box = box->next_in_bucket)
      if (!box->key.point_to_point && !box->parked.empty()) return box->parked.first();
  return nullptr;
}

void Matching::withdraw(const MailboxKey& key, int source, std::uint64_t id) {
  Mailbox* box = find(key);
  for (Parked* p = box ? box->parked.first() : nullptr; p; p = p->next)
    if (p->source == source && p->frame.id == id) p->frame.flags |= flag_withdrawn;
}

void Matching::recycle(Parked& parked) {
  if (parked.payload.capacity() > kept_payload_bytes) std::vector<std::byte>().swap(parked.payload);
  free_messages_.push_back(&parked);
}

}  // namespace dist::net
