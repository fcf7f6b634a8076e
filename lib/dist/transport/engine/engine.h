// Engine: one rank's messages, as its threads see them. It takes the rank's lock (leader_lock.h) and puts the
// parts together: Connections (the links), Transfers (messages and receives), Copies (large messages within a
// host), Peers (which ranks are there) and Waiting (polling and sleeping); QuickMessages is a shorter path
// for the case in which both ranks are ready. Each part has its own state and knows the others by their
// functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/view.h"
#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/copies.h"
#include "dist/transport/engine/peers.h"
#include "dist/transport/engine/quick_messages.h"
#include "dist/transport/engine/transfers.h"
#include "dist/transport/engine/waiting.h"

namespace dist::net {

// Thread-safe. Peers are global ranks.
class Engine {
 public:
  struct Config {
    int rank = 0;
    int world_size = 1;
    std::shared_ptr<SharedSegment> shared_segment;  // this rank's
    std::chrono::microseconds spin{0};              // how long to poll before sleeping
    std::vector<int> nodes = {};                    // by rank: equal numbers are one host; empty: all on one
  };
  explicit Engine(Config config);  // destroyed without leave(): the peers take this rank for dead

  // For making the mesh.
  LinkEvents& events() { return transfers_; }
  void add_link(std::unique_ptr<Link> link);
  int poll_fd() const { return connections_.poll_fd(); }
  // Takes in what has arrived; returns which of the linked ranks is gone and how ("rank 2 died ..."), or ""
  // when all are there.
  std::string failed_peer();

  int rank() const { return rank_; }
  int node_of(int rank) const { return nodes_.empty() ? 0 : nodes_[static_cast<std::size_t>(rank)]; }
  Link& link(int peer) const { return connections_.to(peer); }
  bool has_cores() const { return connections_.has_cores(); }  // every rank of this host has one of its own

  void open(Op& op);
  void close(Op& op) noexcept;
  // Carries one transfer from start to end; returns the peer. `make_op` makes its op, which is not open yet;
  // it is called only if the transfer is not over after a few polls.
  int carry(bool is_send, const TensorView& data, int peer, const MessageTerms& terms,
            const std::function<Op()>& make_op);
  std::uint64_t send(Op& op, const TensorView& data, int peer);
  std::uint64_t receive(Op& op, const TensorView& data, int peer);  // or any_rank
  int wait(std::uint64_t id);  // returns the peer; throws the transfer's failure
  bool test(std::uint64_t id);
  bool is_short(std::uint64_t id);
  void cancel(std::uint64_t id) noexcept;

  // For SharedPeers (shared_peers.h): waiting for memory that a peer writes.
  void await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived);
  void await_release(int peer, const std::function<bool()>& released) noexcept;
  Failure withdrawal(TransportOptions options, int peer);  // why the peer gave up, if that is known here

  void progress(Timeout patience);
  void interrupt();
  void abort(const std::string& reason);
  void leave(const std::string& reason) noexcept;

 private:
  Failure end(Lock& lock, Transfer& t);

  const int rank_;
  const std::vector<int> nodes_;
  Connections connections_;
  Waiting waiting_;
  Peers peers_;
  Copies copies_;
  Transfers transfers_;
  QuickMessages quick_messages_;
  bool left_ = false;
};

}  // namespace dist::net
