// PeerMemory: how the ranks of a group that map each other's memory work together without messages.
//
// An operation is a Round (round.h). Every rank posts a notice (some cache lines: the round's number,
// what it calls, and its data or where that lies), waits for the notices it needs, and works on what they
// show: small data is a copy that may be read at any time, large data is the owner's own memory, read and
// written in place until all have finished. Memory that the others do not map passes through a window, which
// they do: its owner copies it in and out (collectives/windows.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dist/core/memory/prefaulted_pages.h"
#include "dist/core/memory/storage.h"
#include "dist/core/view.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/shared_area.h"

namespace dist {

namespace net {
class Engine;
class SharedSegment;
}  // namespace net

// What all ranks of a round must agree on; Error{mismatch} names the rank that differs.
struct RoundTerms {
  std::uint32_t opcode = 0;  // opcode_of()
};

// Of one rank in one group. One round at a time; all ranks hold the same rounds in the same order. Must not
// outlive its endpoint.
class PeerMemory {
 public:
  struct alignas(64) Peer {  // a cache line: all of it is looked at in every round
    int global_rank = 0;
    net::SharedArea* area = nullptr;                       // here
    net::SharedSegment* shared_segment = nullptr;          // its bell
    const std::atomic<std::uint32_t>* sleeping = nullptr;  // whether it must be rung
    std::ptrdiff_t shift = 0;                              // from its addresses to ours
    PrefaultedPages* pages = nullptr;                      // of its arena, here
  };
  struct Setup {
    net::Engine& engine;
    int area;  // of this rank's shared segment
    int rank;
    std::vector<Peer> peers;  // by group rank, this one included
    std::uint64_t group;      // rounds count from here
    bool within_process;      // all ranks are threads: foreign memory is mapped too
    bool has_cores;           // every rank has a core to look on
    bool fenced;              // all peers fence what is posted for them (sleep_fence.h)
    std::size_t short_bytes;  // what is better shown as a copy than where it lies: all ranks agree
  };
  explicit PeerMemory(Setup setup);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  int rank() const { return setup_.rank; }
  int size() const { return size_; }
  // Whether the others can reach this memory: tensors' own, and all memory when the ranks are threads.
  bool maps(const TensorView& memory) const;
  // Throws the error of an operation that another rank of the group has given up: why, if that is known.
  [[noreturn]] void fail_given_up(TransportOptions options, int rank);
  // This rank begins no round that is further ahead of the slowest reader; as it is, by net::notice_depth.
  void limit_lead(std::uint64_t rounds) {
    most_ahead_ = rounds;
    notices_until_ = round_;
  }
  // For tests: ranks that are threads then work with foreign memory as processes must.
  void act_as_process() { setup_.within_process = false; }

 private:
  friend class Round;
  Peer& peer(int rank) { return setup_.peers[static_cast<std::size_t>(rank)]; }
  const Peer& peer(int rank) const { return setup_.peers[static_cast<std::size_t>(rank)]; }
  net::SharedArea& mine() { return *peer(setup_.rank).area; }

  void look_for_misfits() const;
  std::byte* windows();  // this rank's
  // After a store that is sequentially consistent: whoever sleeps by then is woken.
  void wake_peers();
  // Stores it, and wakes them.
  void tell(std::atomic<std::uint64_t>& flag, std::uint64_t value);

  Setup setup_;
  const int size_;  // kept, because every round asks a dozen times
  std::uint64_t most_ahead_ = net::notice_depth;
  std::uint64_t round_;                    // the last one that was begun
  std::uint32_t opcode_ = 0, before_ = 0;  // its opcode, and that of the round before
  // Rounds up to these may use their notices, and their rooms, without a look at the others.
  std::uint64_t notices_until_, rooms_until_;
  // round_wait.cpp: how often this rank has met other programs lately, and how long it naps when it does.
  int crowding_ = 0, nap_slices_ = 0;
  std::vector<std::uint64_t> seen_;  // by rank: the latest round it was seen in
  std::optional<Storage> windows_;   // made when they are first needed, and kept
};

}  // namespace dist
