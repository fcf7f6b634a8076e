// Transfers: the sends and receives under way on one rank, in a pool, so that starting one allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dist/core/error.h"
#include "dist/transport/link/shared_segment.h"
#include "dist/transport/op.h"

namespace dist::net {

struct Transfer : TransferFacts {  // op is nullptr: free
  enum class Stage : std::uint8_t {
    fresh,
    posted,     // receive: no message has met it yet
    writing,    // send: its frame is not out yet
    offered,    // send: waits for an ack, a refusal, or an accept
    streaming,  // data is flowing in pieces
    copying,    // receive: its data is being copied, or waits for a thread to copy it
    done,       // with or without a failure
  };

  std::uint64_t id = 0;
  Stage stage = Stage::done;
  bool wants_ack = false;
  bool being_copied = false;          // a thread copies without the lock: the transfer must stay
  ClaimRef claim;                     // send: its own claim; receive that copies: the sender's
  std::uint64_t theirs = 0;           // the id of the other side's transfer
  const std::byte* source = nullptr;  // receive: the sender's buffer, as mapped here
  std::byte* target = nullptr;        // send: the receiver's buffer, as mapped here, if the sender may copy
  Failure failure;
  Transfer *next = nullptr, *prev = nullptr;  // among the posted receives of its mailbox, from its peer
  std::uint64_t order = 0;                    // counts posted receives

  bool is_settled() const { return stage == Stage::done && !being_copied; }
};

class TransferPool {
 public:
  Transfer& make(Op& op, bool is_send, int peer, std::byte* data, std::uint64_t bytes) {
    if (free_.empty()) grow();
    Transfer& t = *free_.back();
    free_.pop_back();
    t.id += generation_step;
    t.op = &op;
    t.stage = Transfer::Stage::fresh;
    t.is_send = is_send;
    t.wants_ack = false;
    t.peer = peer;
    t.data = data;
    t.bytes = bytes;
    t.moved = 0;
    t.claim = {};
    t.target = nullptr;
    return t;
  }

  // nullptr: the transfer has ended and is forgotten.
  Transfer* find(std::uint64_t id) {
    const auto index = static_cast<std::size_t>(id & (generation_step - 1));
    if (index >= all_.size()) return nullptr;
    Transfer& t = all_[index];
    return t.op != nullptr && t.id == id ? &t : nullptr;
  }

  void release(Transfer& t) {
    t.op = nullptr;
    t.stage = Transfer::Stage::done;
    t.failure.text.clear();
    free_.push_back(&t);
  }

  // Calls f(transfer) for all transfers that are under way.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < all_.size(); ++i)  // f may make more transfers
      if (all_[i].op != nullptr) f(all_[i]);
  }

 private:
  static constexpr std::uint64_t generation_step = std::uint64_t{1} << 24;  // ids: generation, then index

  void grow() {
    all_.emplace_back();
    all_.back().id = all_.size() - 1;
    free_.push_back(&all_.back());
  }

  std::deque<Transfer> all_;
  std::vector<Transfer*> free_;
};

}  // namespace dist::net
