// The plain transport (DIST_TRANSPORT=plain): one stream socket per pair of ranks, one thread that polls
// them, and nothing else. It is the transport to read first, and the one with which the fast ones are
// compared: the same interface, the same errors, the same tests.
//
// A small message is sent at once, and the receiver keeps it until its receive is posted. A large one is
// offered, and sent when the receiver accepts it. A connection that ends without a goodbye means that the
// peer died.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/core/handles.h"
#include "dist/transport/departures.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/plain/messages.h"
#include "dist/transport/plain/peer.h"

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
  using Lock = std::unique_lock<std::mutex>;

 public:
  Plain(int rank, Connections connections);
  ~Plain();  // without leave() before it, the peers take this rank for dead
  int rank() const { return peers_.rank(); }
  int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }

  void open(Op& op) {
    const Lock lock(mutex_);
    messages_.open(op);
  }
  void close(Op& op) noexcept {
    const Lock lock(mutex_);
    messages_.close(op);
  }
  std::uint64_t send(Op& op, const TensorView& data, int peer) {
    const Lock lock(mutex_);
    return messages_.send(op, data, peer);
  }
  std::uint64_t receive(Op& op, const TensorView& data, int peer) {  // or any_rank
    const Lock lock(mutex_);
    return messages_.receive(op, data, peer);
  }
  int wait(std::uint64_t id);  // returns the peer; throws the failure
  bool test(std::uint64_t id);
  bool is_short(std::uint64_t id);
  void cancel(std::uint64_t id) noexcept;

  void progress(Timeout patience);
  void interrupt();
  void abort(const std::string& reason);
  void leave(const std::string& reason) noexcept;

 private:
  void move();
  void take_in_all();
  void stop();
  bool await(Lock& lock, Deadline deadline, const std::function<bool()>& done);

  const std::vector<int> nodes_;
  std::mutex mutex_;  // guards all that follows
  Activity activity_;
  std::uint64_t seen_ = 0;  // the activity that progress() has returned for
  Peers peers_;
  Departures departures_;
  Messages messages_{peers_, departures_, activity_};
  bool stopping_ = false;
  std::thread mover_;
};

}  // namespace dist::net::plain
