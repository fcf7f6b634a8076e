// The plain transport (DIST_TRANSPORT=plain): one stream socket per pair of ranks, one thread that polls
// them, and nothing else. It is the transport to read first, and the one with which the fast ones are
// compared: the same interface, the same errors, the same tests.
//
// A small message is sent at once, and the receiver keeps it until its receive is posted. A large one is
// offered, and sent when the receiver accepts it. A connection that ends without a goodbye means that the
// peer died.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "dist/core/handles.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/plain/peer.h"
#include "dist/transport/report.h"

namespace dist::net::plain {

struct Connections {
  std::vector<UniqueFd> sockets;  // by rank; this rank's own is empty
  std::vector<int> nodes;         // for each rank: the first rank on its host
};

// Called by all ranks. Publishes where this rank listens, dials all lower ranks and is dialled by all higher
// ones. Error{timeout} names the ranks that did not come, Error{peer_failed} one that died.
Connections connect(Store& store, const EndpointOptions& options);

// One rank's transfers. Peers are global ranks. Thread-safe: one lock; a thread of its own moves messages
// and notifies the threads that wait for one.
class Plain {
 public:
  Plain(int rank, Connections connections);
  ~Plain();  // without leave() before it, the peers take this rank for dead

  int rank() const { return rank_; }
  int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  void open(Op& op);
  void close(Op& op) noexcept;
  std::uint64_t send(Op& op, const TensorView& data, int peer);
  std::uint64_t receive(Op& op, const TensorView& data, int peer);  // or any_rank
  int wait(std::uint64_t id);                                       // returns the peer; throws the failure
  bool test(std::uint64_t id);
  bool is_short(std::uint64_t id);
  void cancel(std::uint64_t id) noexcept;
  void progress(Timeout patience);
  void interrupt();
  void abort(const std::string& reason);
  void leave(const std::string& reason) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Payload = std::span<const std::byte>;
  using Key = std::tuple<std::uint32_t, bool, std::uint64_t>;  // context, point-to-point, tag
  struct Message : TransferFacts {
    enum class Stage : std::uint8_t { posted, offered, streaming, done };
    std::uint64_t id = 0, theirs = 0;  // `theirs`: the other side's number of the message
    Stage stage = Stage::done;
    Failure failure;
  };
  struct Unexpected {
    int source = 0;
    Header header;
    std::vector<std::byte> payload;
    bool withdrawn = false;
  };

  // plain.cpp: how a send meets its receive.
  Message& begin(Op& op, bool is_send, const TensorView& data, int peer);
  void match(Message& receive, int source, const Header& header, Payload payload, bool withdrawn);
  void settle(Message& message, Failure failure = {});
  void end(Message& message) noexcept;
  Message* find(std::uint64_t id, bool is_send);
  std::optional<Unreceived> unreceived(const Channel& before) const;
  void on_frame(int source, const Header& header, Payload payload);
  void on_message(int source, const Header& header, Payload payload);
  void on_refused(int source, const Header& header);
  void on_withdrawn(int source, const Header& header);
  void stream(Peer& peer);

  // peers.cpp: the thread that moves messages, and which ranks are still there.
  void move();
  void stop();
  void take_in_all();
  bool await(Lock& lock, Deadline deadline, const std::function<bool()>& done);
  void note_activity();
  void ring();
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  bool is_present(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].state.kind == PeerState::Kind::present;
  }
  bool may_come(const Op& op, int source) const;
  void on_left(int rank);
  void on_failed(int rank, const std::string& how);
  Failure failure_by(int rank, const Op& op);
  void note_departure(int rank);
  Failure left(const Message& message);
  void pass_on_departures();
  void tell_all(const Header& header, const std::string& text);
  void fail(Op& op, const Failure& failure);

  const int rank_;
  const std::vector<int> nodes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Peer> peers_;                     // by rank
  std::map<std::uint64_t, Message> messages_;  // under way, by id
  std::multimap<Key, Message*> posted_;        // receives without a message, in order
  std::multimap<Key, Unexpected> unexpected_;  // messages without a receive, in order
  std::set<Op*> ops_;
  std::vector<int> failures_, departures_;  // ranks that died or gave up; that left in order
  std::size_t passed_on_ = 0;               // departures that the others have been notified of
  std::vector<std::function<void()>>
      reports_;          // ranks that went; acted on when all that was sent before is read
  std::string aborted_;  // why every operation fails from now on
  std::uint64_t last_id_ = 0, activity_ = 0, seen_ = 0;
  bool gave_up_ = false;  // some transfer: parts of it may be left over
  bool stopping_ = false;
  UniqueFd bell_;  // an eventfd: wakes mover_
  std::thread mover_;
};

}  // namespace dist::net::plain
