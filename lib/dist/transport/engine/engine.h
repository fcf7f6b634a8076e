// Engine: one rank's transfers. It matches messages with receives, moves data over the links, waits, and
// knows which ranks are still there. Thread-safe: one lock, shared as leader_lock.h describes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/core/view.h"
#include "dist/transport/engine/leader_lock.h"
#include "dist/transport/engine/matching.h"
#include "dist/transport/engine/poller.h"
#include "dist/transport/engine/spin.h"
#include "dist/transport/engine/transfer.h"
#include "dist/transport/link/link.h"
#include "dist/transport/link/shared_segment.h"
#include "dist/transport/report.h"

namespace dist::net {

Frame frame_for(FrameKind kind, const Channel& channel);
Frame eager_frame(const Transfer& t, const Channel& channel, SendMode mode);
Frame text_frame(FrameKind kind, const std::string& text, std::uint64_t id = 0);
// Whether a message fits a receive of `bytes` bytes.
bool fits(const Frame& message, const Channel& channel, std::uint64_t bytes);

class Engine final : private LinkEvents {
 public:
  struct Config {
    int rank = 0;
    int world_size = 1;
    std::shared_ptr<SharedSegment> shared_segment;  // this rank's
    std::chrono::microseconds spin{0};              // how long to poll before sleeping
    std::vector<int> nodes = {};                    // by rank: equal numbers are one host; empty: all on one
  };
  explicit Engine(Config config);
  ~Engine();  // without leave() before it, the peers take this rank for dead

  // The next few are for making the mesh.
  LinkEvents& events() { return *this; }
  void add_link(std::unique_ptr<Link> link);
  int poll_fd() const { return poller_.fd(); }
  // Takes in what has arrived; returns which of the linked ranks is gone and how ("rank 2 died ..."), or ""
  // when all are there.
  std::string failed_peer();

  int rank() const { return config_.rank; }
  int node_of(int rank) const {
    return config_.nodes.empty() ? 0 : config_.nodes[static_cast<std::size_t>(rank)];
  }
  Link& link(int peer) const { return *links_[static_cast<std::size_t>(peer)]; }

  // Peers are global ranks. wait() throws the failures.
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

  // For SharedPeers (engine_memory.cpp).
  void await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived);
  void await_release(int peer, const std::function<bool()>& released) noexcept;
  Failure withdrawal(TransportOptions options, int peer);      // why the peer gave up, if that is known here
  bool has_cores() const { return config_.spin.count() > 0; }  // every rank of this host has one of its own

  void progress(Timeout patience);
  void interrupt();
  void abort(const std::string& reason);
  void leave(const std::string& reason) noexcept;

 private:
  // Transfers (engine.cpp).
  void admit(Op& op);
  void dismiss(Lock& lock, Op& op) noexcept;
  Transfer& begin_send(Op& op, const TensorView& data, int peer);
  Transfer& begin_receive(Op& op, const TensorView& data, int peer);
  Failure end(Lock& lock, Transfer& t);
  void transmit(Transfer& t);
  void meet(Transfer& t, const Frame& message, int source, const std::byte* payload);
  void refuse(Transfer& t, const Frame& message, Failure failure);
  void settle(Transfer& t, Failure failure = {});
  void retire(Lock& lock, Transfer& t) noexcept;
  bool may_come(const Op& op, int source) const;
  Transfer* find(std::uint64_t id, bool is_send);

  // Messages that meet at once (engine_quick.cpp). False: nothing has happened, or `sent` waits for its
  // answer.
  bool send_quickly(const TensorView& data, int peer, const MessageTerms& terms, Transfer*& sent);
  bool receive_quickly(const TensorView& data, int peer, const MessageTerms& terms);
  RingLink* quick_way(int peer);

  // Copies out of the sender's memory (engine_copies.cpp).
  void run_copies(Lock& lock);
  void copy(Lock& lock, Transfer& t);
  void copy_together(Lock& lock, Transfer& t, std::uint64_t target);
  void assist(Lock& lock, Transfer& t);
  bool withdraw(ClaimRef claim, Link& peer);

  // What the links say (engine_frames.cpp).
  void on_frame(int peer, const Frame& frame, const std::byte* payload) override;
  void on_written(std::uint64_t id, std::uint64_t bytes) override;
  std::byte* data_target(std::uint64_t id, std::uint64_t bytes) override;
  void on_data(std::uint64_t id, std::uint64_t bytes) override;
  void on_backlog(Link& link) override;
  void keep_unexpected(int peer, const Frame& frame, const std::byte* payload);
  void on_accept(int peer, const Frame& frame);
  void on_share(int peer, const Frame& frame);
  void on_ack(const Frame& frame);
  void on_refuse(int peer, const Frame& frame);
  void on_given_up(std::uint64_t id, bool is_send);
  void on_withdrawn(int peer, const Frame& frame);

  // Which ranks are still there (engine_peers.cpp).
  void on_goodbye(int peer, const std::string& reason);
  void on_hang_up(Link& link);
  void on_death_notice(int peer, const std::string& how);
  void report_failure(int peer, const std::string& how);
  void settle_reports();
  void on_peer_left(int peer);
  void on_peer_failed(int peer, const std::string& how);
  void take_in_all();
  void note_departure(int peer);
  Failure report_left(const Transfer& t);
  void pass_on_departures();
  void look_for_unreceived();
  Timeout patience_to_leave(bool in_order) const;
  void tell_others(int peer, const std::string& how);
  void fail_op(Op& op, const Failure& failure);
  // Fails all operations for which failure_of(op) returns a failure.
  template <class FailureOf>
  void fail_ops(const FailureOf& failure_of);
  Failure failure_of(const Op& op) const;
  void forget_link(Link& link);

  // Waiting (engine_wait.cpp).
  template <class Done>
  bool await(Lock& lock, const Done& done, Deadline deadline);
  bool look_for(Lock& lock, const Transfer& t);
  bool await_change(Lock& lock, const std::function<bool()>& done, Deadline deadline);
  template <class Done>
  bool lead(Lock& lock, const Done& done, Deadline deadline);
  bool advance(Lock& lock);
  bool poll_links();
  bool flush_backlog();
  void make_way();
  bool sleep(Lock& lock, Deadline deadline);
  Deadline longest_sleep(Deadline deadline) const;
  void look_for_silence();
  bool look_before_sleep();
  bool look_at_memory();
  void look_around(Lock& lock);
  bool take_in(std::span<const Poller::Event> events);
  bool handle(std::span<const Poller::Event> events);
  void wake_sleeper();
  void note_activity();

  Config config_;
  Poller poller_;
  Claims claims_;
  std::vector<std::unique_ptr<Link>> links_;  // by rank
  std::vector<Link*> rings_;                  // those that must be polled
  std::vector<Link*> backlog_;                // links with something to flush
  int sockets_ = 0;                           // the number of links whose frames come by a descriptor
  std::uint32_t ticks_ = 0;

  TransferPool transfers_;
  Matching matching_;
  IntrusiveList<Op> ops_;
  Op nobody_;                // stands in for the op that a transfer does not have yet
  std::uint32_t quick_ = 0;  // counts messages
  std::vector<const std::function<bool()>*> watched_;  // memory that threads of this rank wait for
  std::deque<std::uint64_t> copies_;  // transfers whose data is to be copied from the sender's memory

  std::vector<PeerState> peers_;                // by rank
  std::vector<int> failures_;                   // in the order they were noticed
  std::vector<std::function<void()>> reports_;  // departures and given-up transfers, as they came
  std::vector<int> departures_;                 // ranks that left, as seen here or reported by another rank
  std::size_t passed_on_ = 0;                   // departures that the other ranks have been notified of
  std::string aborted_;                         // why every operation fails from now on
  bool gave_up_ = false;                        // some transfer: parts of it may be left over
  bool left_ = false;

  LeaderLock leader_lock_;
  Spin spin_;
  bool asleep_ = false;         // the leader is in the kernel
  std::uint64_t activity_ = 0;  // counts ended transfers and interruptions
  const std::uint64_t serial_;  // this engine's number in the process
};

}  // namespace dist::net
