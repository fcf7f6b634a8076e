// PeerMemory: how the ranks of a group that map each other's memory work together without messages.
//
// An operation is a Round. Every rank posts a notice (a pair of cache lines: the round's number, what it
// calls, and its data or where that lies), waits for the notices it needs, and works on what they show: small
// data is a copy that may be read at any time, large data is the owner's own memory, read and written in
// place until all have finished. Whoever waits looks for a moment, then sleeps in the engine, as for
// messages; so a death, an abort and a timeout end it with the same errors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dist/core/view.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/shared_area.h"

namespace dist {

namespace net {
class Engine;
class Mailroom;
}  // namespace net

// What all ranks of a round must agree on; Error{mismatch} names the rank that differs.
struct RoundTerms {
  std::uint32_t opcode = 0;  // opcode_of(kind, dtype)
  std::uint32_t detail = 0;  // reduction and root, or whatever else must be equal
};

// What runs, asked for only when a rank must wait for long, or an error is to be written.
class RoundLabel {
 public:
  virtual TransportOptions options() const = 0;

 protected:
  ~RoundLabel() = default;
};

// Of one rank in one group. One round at a time; all ranks hold the same rounds in the same order. Must not
// outlive its endpoint.
class PeerMemory {
 public:
  struct Peer {
    int global_rank = 0;
    net::SharedArea* area = nullptr;                       // here
    net::Mailroom* mailroom = nullptr;                     // its bell
    const std::atomic<std::uint32_t>* sleeping = nullptr;  // whether it must be rung
    std::ptrdiff_t shift = 0;                              // from its addresses to ours
  };
  struct Setup {
    net::Engine& engine;
    int area;  // of this rank's mailroom
    int rank;
    std::vector<Peer> peers;  // by group rank, this one included
    std::uint64_t group;      // rounds count from here
    bool within_process;      // all ranks are threads: foreign memory is mapped too
    bool has_cores;           // every rank has a core to look on
  };
  explicit PeerMemory(Setup setup);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  int rank() const { return setup_.rank; }
  int size() const { return static_cast<int>(setup_.peers.size()); }
  // Whether the others can reach this memory: tensors' own, and all memory when the ranks are threads.
  bool maps(const TensorView& memory) const;

 private:
  friend class Round;
  Peer& peer(int rank) { return setup_.peers[static_cast<std::size_t>(rank)]; }
  net::SharedArea& mine() { return *peer(setup_.rank).area; }

  template <class Done>
  void wait_until(const Done& done, int peer, const RoundLabel& label);
  void wait_long(const std::function<bool()>& done, int peer, const RoundLabel& label);
  void make_room(const RoundLabel& label);
  void wake_peers();

  Setup setup_;
  std::uint64_t round_;              // the last one that was begun
  std::vector<std::uint64_t> seen_;  // by rank: the latest round it was seen in
};

// One operation. First one of show(), expose() and attend(), then of() as needed, then finish() if memory was
// exposed by anybody. A Round that ends by an error gives its part up: the others get an error too.
class Round {
 public:
  // `label` outlives it.
  Round(PeerMemory& peers, const RoundTerms& terms, const RoundLabel& label);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }

  static constexpr std::size_t shown_bytes = net::shown_bytes;  // at most, as a copy
  // Whether `bytes` in so many parts can be shown as a copy.
  static bool fits(std::size_t bytes, std::size_t parts = 1);

  // Lets the others read a copy: afterwards the memory is the caller's again. It must fit.
  void show(const TensorView& data) { show({&data, 1}); }
  void show(std::span<const TensorView> parts);
  // Lets the others read and write the memory itself, until finish(). It must be mapped.
  void expose(const TensorView& data) { expose({&data, 1}); }
  void expose(std::span<const TensorView> parts);
  void attend();  // shows nothing

  void meet(int rank) { notice_of(rank); }  // waits for that rank's notice

  // What that rank shows, `count` elements: waits for its notice. Error{mismatch} where it shows another
  // number. A view of exposed memory is good until finish().
  TensorView of(int rank, std::int64_t count, int part = 0);
  // This rank touches the others' memory no longer; waits until nobody touches this rank's: by default no
  // rank, else only `reader`.
  void finish();
  void finish(int reader);

 private:
  net::Notice& begin_notice(net::Showing showing, std::size_t parts);
  void post(net::Notice& notice);
  net::Notice& notice_of(int rank);
  void check_terms(int rank, const net::Notice& theirs);
  net::PartPlace place_of(int rank, net::Notice& notice, int part);
  void begin_work(int rank);
  void tell_done();
  void await_done(int rank);
  void give_up() noexcept;

  PeerMemory& peers_;
  const RoundTerms terms_;
  const DType dtype_;
  const RoundLabel& label_;
  bool exposes_ = false;  // others may touch this rank's memory
  bool works_ = false;    // this rank may touch that of others
};

}  // namespace dist
