// PeerMemory: how the ranks of a group that map each other's memory work together without messages.
//
// An operation is a Round (round.h). Every rank posts a notice (a few cache lines: the round's number, what
// it calls, and its data or where that is), waits for the notices that it needs, and works on what they
// publish: small data is a copy that may be read at any time, large data is the owner's own memory, read and
// written in place until all ranks have finished. Memory that the others do not map passes through a bounce
// buffer, which they do map: its owner copies the data in and out (bounce_steps.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dist/core/memory/prefaulted_pages.h"
#include "dist/core/memory/storage.h"
#include "dist/core/view.h"
#include "dist/direct/shared_area.h"
#include "dist/transport/shared_peers.h"

namespace dist {

// What all ranks of a round must agree on; Error{mismatch} names a rank that differs.
struct RoundTerms {
  std::uint32_t opcode = 0;  // opcode_of()
};

// One rank's part in one group. It takes part in one round at a time, and all ranks take part in the same
// rounds in the same order. Must not outlive its endpoint.
class PeerMemory {
 public:
  struct alignas(64) Peer {  // a cache line: every round reads all of it
    int global_rank = 0;
    direct::SharedArea* area = nullptr;                    // as mapped here
    net::SharedSegment* shared_segment = nullptr;          // has its doorbell
    const std::atomic<std::uint32_t>* sleeping = nullptr;  // whether its doorbell must be rung
    std::ptrdiff_t shift = 0;                              // from its addresses to ours
    PrefaultedPages* pages = nullptr;                      // its arena's pages, as mapped here
  };
  struct Setup {
    SharedPeers& shared;
    int area;  // the number of this rank's area in its shared segment
    int rank;
    std::vector<Peer> peers;  // by group rank, including this one
    std::uint64_t group;      // rounds count from here
    bool within_process;      // all ranks are threads, so that foreign memory is mapped too
    bool has_cores;           // every rank has a core of its own
    bool fenced;              // all peers fence what is posted for them (asymmetric_fence.h)
    std::size_t short_bytes;  // up to this size a copy is faster; equal on all ranks
    std::size_t root_reads;   // what a root reads of it alone; equal on all ranks
  };
  explicit PeerMemory(Setup setup);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  int rank() const { return setup_.rank; }
  int size() const { return size_; }
  // Whether the other ranks can reach this memory: tensors' own memory, and all memory when the ranks are
  // threads.
  bool maps(const TensorView& memory) const;
  // Throws the error of an operation that another rank of the group has given up, with the reason if it is
  // known.
  [[noreturn]] void fail_given_up(TransportOptions options, int rank);
  // After something of `rank` was not there: throws the error of its death if that becomes known within a
  // second, which is later than what it leaves behind disappears.
  void fail_if_gone(TransportOptions options, int rank);
  // Limits how far ahead of the slowest reader this rank may begin a round; without a call,
  // direct::notice_depth.
  void limit_lead(std::uint64_t rounds) {
    most_ahead_ = rounds;
    notices_until_ = round_;
  }
  // For tests: makes ranks that are threads treat other ranks' memory as separate processes have to.
  void act_as_process() { setup_.within_process = false; }

 private:
  friend class Round;
  Peer& peer(int rank) { return setup_.peers[static_cast<std::size_t>(rank)]; }
  const Peer& peer(int rank) const { return setup_.peers[static_cast<std::size_t>(rank)]; }
  direct::SharedArea& mine() { return *peer(setup_.rank).area; }

  void look_for_misfits() const;
  std::byte* bounce_buffers();  // this rank's bounce buffers
  // To be called after a sequentially consistent store: wakes every rank that sleeps by then.
  void wake_peers();
  // Stores the value, and wakes them.
  void tell(std::atomic<std::uint64_t>& flag, std::uint64_t value);

  Setup setup_;
  const int size_;  // kept, because every round needs it a dozen times
  std::uint64_t most_ahead_ = direct::notice_depth;
  std::uint64_t round_;                    // the last round that was begun
  std::uint32_t opcode_ = 0, before_ = 0;  // its opcode, and that of the round before
  // Rounds up to these numbers may use their notices and their rooms without checking the other ranks.
  std::uint64_t notices_until_, rooms_until_;
  // For round_wait.cpp: how often other programs took this rank's core lately, and how long it naps when they
  // do.
  int crowding_ = 0, nap_slices_ = 0;
  std::vector<std::uint64_t> seen_;        // by rank: the latest round it was seen in
  std::optional<Storage> bounce_buffers_;  // made when first needed, and kept
};

// This rank's part in working without messages, for a group whose ranks all map each other's memory; nullptr
// on every rank where one of them does not. Every member calls it, with a channel of its own for the messages
// by which they agree. Throws the same errors as an operation. The result must not outlive the endpoint.
std::unique_ptr<PeerMemory> connect_direct(Endpoint& endpoint, TransportOptions options);

}  // namespace dist
