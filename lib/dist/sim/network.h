// Network: links, ports, mailboxes and the time on them. It knows nothing of fibers: ranks post sends and
// receives at their own clocks, and a listener is notified when each completes. Ranks may be fibers of this
// process or processes at the other end of a socket (remote/).
//
// A message holds its sender's send port, its receiver's receive port and the network cards that it crosses,
// first in first out, for overhead + bytes * beta; it arrives alpha later. Posts must come in the order of
// their clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dist/sim/time.h"
#include "dist/sim/topology.h"
#include "dist/sim/traffic.h"
#include "dist/sim/what_if.h"

namespace dist::sim {

inline constexpr std::int32_t any_source = -1;

// What decides which messages match which receives (transport/endpoint.h, Channel).
struct Key {
  std::uint64_t tag = 0;
  std::uint32_t context = 0;  // the group, and whether it is point-to-point
  friend bool operator==(const Key&, const Key&) = default;
};

using RequestId = std::uint32_t;
inline constexpr RequestId no_request = UINT32_MAX;

enum class Fault : std::uint8_t { none, size_mismatch, opcode_mismatch, peer_failed };

// One send or receive, in one cache line: a simulation makes millions of them per second.
struct alignas(64) NetRequest {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  Time at = 0;  // posted; once known: completed
  std::uint64_t tag = 0;
  std::uint32_t context = 0;
  std::uint32_t opcode = 0;
  std::int32_t owner = 0;
  std::int32_t peer = 0;        // for a receive from any source: the sender, once matched
  RequestId next = no_request;  // in its mailbox, or in the free list
  bool is_send : 1 = false;
  bool rendezvous : 1 = false;
  bool known : 1 = false;     // `at` is the completion time
  bool awaited : 1 = false;   // its rank sleeps until it is known
  bool watched : 1 = false;   // its rank has polled it in vain
  bool detached : 1 = false;  // its rank is done with it (an eager send, not yet received)
  bool bounced : 1 = false;   // `data` is the network's own copy
  Fault fault = Fault::none;
  std::uint32_t site = 0;  // the call it belongs to; chosen by the poster
};
static_assert(sizeof(NetRequest) == 64);

// Whether a send to a rank matches a receive of that rank.
inline bool belong_together(const NetRequest& send, const NetRequest& recv) {
  return send.context == recv.context && send.tag == recv.tag &&
         (recv.peer == send.owner || recv.peer == any_source);
}

class NetworkListener {
 public:
  virtual ~NetworkListener() = default;
  // The completion time of a request that its rank awaits or watches has become known.
  virtual void known(std::int32_t rank, RequestId id, Time at) = 0;
};

// Notified of what a correct program does not do, and of what is written for which rank.
class NetworkWatcher {
 public:
  virtual ~NetworkWatcher() = default;
  virtual void written(const NetRequest& recv) = 0;                         // the receive's data
  virtual void misfit(const NetRequest& send, const NetRequest& recv) = 0;  // in size or operation
  virtual void stranded(const NetRequest& request, int gone) = 0;  // the other side has left or failed
};

// Notified of every message.
class NetworkTracer {
 public:
  virtual ~NetworkTracer() = default;
  virtual void sent(const NetRequest& send, Time begin, Time end) = 0;  // it holds its ports in between
  virtual void arrived(const NetRequest& send, const NetRequest& recv, Time at) = 0;
};

class Network {
 public:
  Network(Topology topology, int ranks, NetworkListener& listener);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  struct Post {
    std::int32_t rank, peer;
    Key key;
    std::uint32_t opcode;
    std::byte* data;  // null: count bytes, move none
    std::uint64_t bytes;
    Time now;
    bool rendezvous = false;
    std::uint32_t site = 0;
  };
  RequestId post_send(const Post& post);
  RequestId post_recv(const Post& post);

  // A message to or from a switch, which never lacks ports: holds the rank's port and network card from
  // `ready` on, and returns when they are free again.
  Time send_up(int rank, std::uint64_t bytes, Time ready);
  Time receive_down(int rank, std::uint64_t bytes, Time ready);

  const NetRequest& operator[](RequestId id) const { return requests_[id]; }
  void await(RequestId id, bool yes = true) { requests_[id].awaited = yes; }
  void watch(RequestId id) { requests_[id].watched = true; }
  // Its rank has waited in vain since `begin`: if it completes later, it is to be cancelled.
  void missed(RequestId id, Time begin) { requests_[id].at = begin; }
  // The rank is done with the request (it has waited, or cancelled). An eager message that has not been
  // received yet is kept.
  void release(RequestId id);
  void cancel(RequestId id);

  // Exploration: from now on receives from any source wait for match_any_source(), and so do later receives
  // that could take their messages.
  void hold_any_source() { holds_any_source_ = true; }
  // Matches one receive from any source that has a message to take; `choose(n)` says which of n senders it
  // matches, n for none yet. Returns false if none was matched. `only`: that receive, or the first before it
  // that takes messages like its own, since those match receives in the order in which they were posted.
  bool match_any_source(Time now, const std::function<int(int)>& choose, RequestId only = no_request);

  // A rank is gone: requests that need it fail, now or when they are posted.
  void revive(std::int32_t rank) { ports_[static_cast<std::size_t>(rank)].failed = false; }
  void fail_rank(std::int32_t rank, Time now);

  void set_watcher(NetworkWatcher* watcher) { watcher_ = watcher; }
  void set_tracer(NetworkTracer* tracer) { tracer_ = tracer; }
  // The slow ranks and links; to be called before the first message.
  void suppose(const WhatIf& what_if) { slow_ = std::make_unique<Slowdowns>(what_if, ranks()); }
  double slowness(int rank) const { return slow_ ? slow_->of(rank) : 1; }

  int ranks() const { return static_cast<int>(ports_.size()); }
  const Topology& topology() const { return topology_; }
  const RankTraffic& traffic(int rank) const { return traffic_[static_cast<std::size_t>(rank)]; }
  // From now on counts what each pair of ranks exchanges.
  void count_links() { links_ = std::make_unique<Links>(); }
  std::vector<LinkTraffic> links() const;  // by src and dst, only used ones; empty: not counted
  const std::vector<std::uint64_t>& card_bytes() const { return card_bytes_; }
  // The bytes of a rank's eager messages that it is done with and that no rank has received: they are kept
  // here.
  std::uint64_t kept_bytes(int rank) const { return ports_[static_cast<std::size_t>(rank)].kept; }
  std::uint64_t messages() const { return messages_; }
  Time last_arrival() const { return last_arrival_; }
  // Messages that arrived and were not received, and receives without a message: ids, for findings.
  std::vector<RequestId> unmatched_sends() const;
  std::vector<RequestId> unmatched_receives() const;

 private:
  struct Mailbox {
    RequestId head = no_request, tail = no_request;
  };
  struct alignas(64) Ports {
    Time send_free = 0, recv_free = 0;
    Mailbox sends, receives;  // to this rank, not matched yet; by this rank, not matched yet
    std::int32_t node = 0, nic = -1;
    std::uint64_t kept = 0;     // bytes of copies of its messages
    std::uint32_t awaited = 0;  // receives that wait for this rank alone, in all mailboxes
    bool failed = false;
  };
  using Links = std::unordered_map<std::uint64_t, LinkTraffic>;
  void count(int src, int dst, std::uint64_t bytes);
  RequestId acquire(const Post& post);
  void free(RequestId id);
  void enqueue(Mailbox& box, RequestId id);
  // Receives are counted at the rank that they wait for, so that they need not be searched for if there are
  // none.
  void enqueue_recv(RequestId id);
  template <class Wanted>
  RequestId take_recv(Ports& of, Wanted wanted);
  // Removes the first request from `box` that `wanted` accepts.
  template <class Wanted>
  RequestId take(Mailbox& box, Wanted wanted);
  void match(RequestId send, RequestId recv, Time now);
  // The posted receive that a message matches; none if that is a receive from any source that is held.
  RequestId meet(Ports& there, const NetRequest& send);
  bool is_held(const Ports& here, const NetRequest& recv) const;
  bool competes(RequestId recv, RequestId other) const;
  // Matches receives that were held behind others, as far as possible now.
  void settle(Ports& here, Time now);
  bool matches_nobody(NetRequest& recv);  // its sender is gone
  // Reserves ports and cards for the message from `ready` on.
  struct Held {
    Time begin, end;  // at the end the ports are free again
  };
  Held transmit(int src, int dst, std::uint64_t bytes, Time ready);
  void transmit(NetRequest& send, int dst, Time ready);  // after it the completion time is known
  Time hold_to_switch(int rank, std::uint64_t bytes, Time ready, Time& port, Time* card);
  Time latency(int src, int dst) const;
  void complete(RequestId id, Time at);
  void bounce(NetRequest& send);
  void drop_copy(NetRequest& send);

  Topology topology_;
  Cost inside_, between_;
  NetworkListener& listener_;
  NetworkWatcher* watcher_ = nullptr;
  NetworkTracer* tracer_ = nullptr;
  std::unique_ptr<Slowdowns> slow_;  // null: nothing is slowed down
  std::vector<NetRequest> requests_;
  RequestId free_ = no_request;
  std::vector<Ports> ports_;
  std::vector<RankTraffic> traffic_;
  std::vector<Time> nic_out_free_, nic_in_free_;
  std::vector<std::uint64_t> card_bytes_;  // bytes that left the node
  std::unique_ptr<Links> links_;           // null: not counted
  std::uint64_t messages_ = 0;
  Time last_arrival_ = 0;
  bool holds_any_source_ = false;
};

template <class Wanted>
RequestId Network::take_recv(Ports& of, Wanted wanted) {
  const RequestId id = take(of.receives, wanted);
  if (id != no_request && requests_[id].peer != any_source)
    --ports_[static_cast<std::size_t>(requests_[id].peer)].awaited;
  return id;
}

template <class Wanted>
RequestId Network::take(Mailbox& box, Wanted wanted) {
  RequestId before = no_request;
  for (RequestId id = box.head; id != no_request; before = id, id = requests_[id].next) {
    if (!wanted(requests_[id])) continue;
    const RequestId after = requests_[id].next;
    (before == no_request ? box.head : requests_[before].next) = after;
    if (box.tail == id) box.tail = before;
    requests_[id].next = id;  // in no mailbox any more
    return id;
  }
  return no_request;
}

}  // namespace dist::sim
