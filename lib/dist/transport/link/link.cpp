#include "dist/transport/link/link.h"

#include <algorithm>
#include <utility>

namespace dist::net {

void Link::send(const Frame& frame, const std::byte* payload, std::uint64_t owner) {
  if (shut_) return;
  OutFrame out{frame, payload, owner, {}, 0};
  if (queue_.empty() && put(out)) {
    if (owner != 0) events_.on_written(owner, frame.payload());
    return;
  }
  enqueue(std::move(out));
}

void Link::enqueue(OutFrame out) {
  if (out.owner == 0 && out.frame.payload() > 0 && out.owned.empty()) {
    out.owned.assign(out.payload, out.payload + out.frame.payload());
    out.payload = out.owned.data();
  }
  const bool is_first = !has_backlog();
  queue_.push_back(std::move(out));
  if (is_first) events_.on_backlog(*this);
}

void Link::stream(std::uint64_t owner, const std::byte* data, std::uint64_t bytes, std::uint64_t theirs) {
  const bool is_first = !has_backlog();
  streams_.push_back({owner, data, bytes, theirs});
  if (is_first) events_.on_backlog(*this);
}

void Link::enqueue_piece() {
  Stream stream = streams_.front();
  streams_.pop_front();
  Frame frame{.kind = FrameKind::data};
  frame.bytes = std::min<std::uint64_t>(stream.left, piece_bytes());
  frame.address = stream.theirs;
  queue_.push_back({frame, stream.data, stream.owner, {}, 0});
  stream.data += frame.bytes;
  stream.left -= frame.bytes;
  if (stream.left > 0) streams_.push_back(stream);
}

bool Link::flush() {
  bool moved = false;
  while (has_backlog()) {
    if (queue_.empty()) enqueue_piece();
    if (!put(queue_.front())) return moved;
    const std::uint64_t owner = queue_.front().owner, bytes = queue_.front().frame.payload();
    queue_.pop_front();
    moved = true;
    if (owner != 0) events_.on_written(owner, bytes);
  }
  return moved;
}

void Link::shut() noexcept {
  shut_ = true;
  queue_.clear();
  streams_.clear();
  close();
}

void Link::forget(std::uint64_t owner) {
  std::erase_if(streams_, [owner](const Stream& s) { return s.owner == owner; });
  std::erase_if(queue_, [owner](const OutFrame& out) { return out.owner == owner && out.sent == 0; });
  for (OutFrame& out : queue_) {  // half of it has been sent: the rest must follow, from a copy
    if (out.owner != owner) continue;
    out.owned.assign(out.payload, out.payload + out.frame.payload());
    out.payload = out.owned.data();
    out.owner = 0;
  }
}

}  // namespace dist::net
