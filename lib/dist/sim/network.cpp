// Network: posting sends and receives, matching them in mailboxes, the time that a message takes on ports and
// cards, completion and release of requests, ranks that fail. Requests are in one array with a free list.
#include "dist/sim/network.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dist/sim/messages_so_far.h"

namespace dist::sim {
Network::Network(Topology topology, int ranks, NetworkListener& listener)
    : topology_(std::move(topology)),
      inside_(topology_.cost_inside()),
      between_(topology_.cost_between()),
      listener_(listener),
      ports_(static_cast<std::size_t>(ranks)),
      traffic_(static_cast<std::size_t>(ranks)) {
  int nics = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    Ports& ports = ports_[static_cast<std::size_t>(rank)];
    ports.node = topology_.node_of(rank);
    ports.nic = topology_.nic_of(rank);
    nics = std::max(nics, ports.nic + 1);
  }
  nic_out_free_.resize(static_cast<std::size_t>(nics));
  nic_in_free_.resize(static_cast<std::size_t>(nics));
  card_bytes_.resize(static_cast<std::size_t>(nics));
}

Network::~Network() {
  for (auto& request : requests_) drop_copy(request);
}

RequestId Network::post_send(const Post& post) {
  const RequestId id = acquire(post);
  NetRequest& send = requests_[id];
  send.is_send = true;
  send.rendezvous = post.rendezvous;
  Ports& there = ports_[static_cast<std::size_t>(post.peer)];
  if (there.failed) {
    send.fault = Fault::peer_failed;
    if (watcher_) watcher_->stranded(send, post.peer);
    complete(id, post.now);
    return id;
  }
  if (!send.rendezvous) {
    transmit(send, post.peer, post.now);
    send.known = true;
  }
  const RequestId recv = meet(there, send);
  if (recv == no_request)
    enqueue(there.sends, id);
  else
    match(id, recv, post.now);
  return id;
}

RequestId Network::post_recv(const Post& post) {
  const RequestId id = acquire(post);
  NetRequest& recv = requests_[id];
  Ports& here = ports_[static_cast<std::size_t>(post.rank)];
  if (is_held(here, recv)) {
    enqueue_recv(id);
    return id;
  }
  const RequestId send =
      take(here.sends, [&](const NetRequest& posted) { return belong_together(posted, recv); });
  if (send != no_request)
    match(send, id, post.now);
  else if (matches_nobody(recv))
    complete(id, post.now);
  else
    enqueue_recv(id);
  return id;
}

bool Network::matches_nobody(NetRequest& recv) {
  if (recv.peer == any_source || !ports_[static_cast<std::size_t>(recv.peer)].failed) return false;
  recv.fault = Fault::peer_failed;
  if (watcher_) watcher_->stranded(recv, recv.peer);
  return true;
}

RequestId Network::meet(Ports& there, const NetRequest& send) {
  bool held = false;
  return take_recv(there, [&](const NetRequest& posted) {
    if (held || !belong_together(send, posted)) return false;
    held = holds_any_source_ && posted.peer == any_source;
    return !held;
  });
}

void Network::match(RequestId send_id, RequestId recv_id, Time now) {
  NetRequest &send = requests_[send_id], &recv = requests_[recv_id];
  Fault fault = Fault::none;
  if (send.opcode != recv.opcode && send.opcode != 0 && recv.opcode != 0)
    fault = Fault::opcode_mismatch;
  else if (send.bytes != recv.bytes)
    fault = Fault::size_mismatch;
  if (fault != Fault::none && watcher_) watcher_->misfit(send, recv);
  const bool was_rendezvous = send.rendezvous && !send.known;
  if (was_rendezvous) {
    send.fault = fault;  // an eager sender has already gone on
    transmit(send, recv.owner, now);
  }
  const Time arrival = send.at + latency(send.owner, recv.owner);
  if (fault == Fault::none && send.bytes != 0 && recv.data != nullptr && send.data != nullptr) {
    std::memcpy(recv.data, send.data, send.bytes);
    if (watcher_) watcher_->written(recv);
  }
  RankTraffic& receiver = traffic_[static_cast<std::size_t>(recv.owner)];
  ++receiver.messages_received;
  receiver.bytes_received += send.bytes;
  last_arrival_ = std::max(last_arrival_, arrival);
  recv.peer = send.owner;
  recv.fault = fault;
  const Time there = std::max({arrival, recv.at, now});
  if (tracer_) tracer_->arrived(send, recv, there);
  complete(recv_id, there);
  if (was_rendezvous) complete(send_id, send.at);
  drop_copy(send);
  send.data = nullptr;
  if (send.detached)
    free(send_id);
  else
    send.next = send_id;  // in no mailbox any more
}

Time Network::latency(int src, int dst) const {
  if (src == dst) return 0;
  const bool inside =
      ports_[static_cast<std::size_t>(src)].node == ports_[static_cast<std::size_t>(dst)].node;
  return (inside ? inside_ : between_).latency;
}

void Network::transmit(NetRequest& send, int dst, Time ready) {
  const Held held = transmit(send.owner, dst, send.bytes, ready);
  send.at = held.end;
  if (tracer_) tracer_->sent(send, held.begin, held.end);
}

Network::Held Network::transmit(int src, int dst, std::uint64_t bytes, Time ready) {
  Ports &from = ports_[static_cast<std::size_t>(src)], &to = ports_[static_cast<std::size_t>(dst)];
  RankTraffic& sender = traffic_[static_cast<std::size_t>(src)];
  ++messages_;
  count_message();
  ++sender.messages_sent;
  sender.bytes_sent += bytes;
  if (links_) count(src, dst, bytes);
  if (src == dst) return {ready, ready};  // memory to memory: no port
  Time start = std::max({ready, from.send_free, to.recv_free});
  const Cost& cost = from.node == to.node ? inside_ : between_;
  const Time hold = slow_ ? slow_->hold(cost, bytes, src, dst) : cost.hold(bytes);
  if (from.node == to.node) {
    const Time end = later(start, hold);
    from.send_free = to.recv_free = end;
    return {start, end};
  }
  Time* const out = from.nic < 0 ? nullptr : &nic_out_free_[static_cast<std::size_t>(from.nic)];
  Time* const in = to.nic < 0 ? nullptr : &nic_in_free_[static_cast<std::size_t>(to.nic)];
  if (out) start = std::max({start, *out, *in});
  const Time end = later(start, hold);
  from.send_free = to.recv_free = end;
  if (out) {
    *out = *in = end;
    card_bytes_[static_cast<std::size_t>(from.nic)] += bytes;
  }
  return {start, end};
}

void Network::complete(RequestId id, Time at) {
  NetRequest& request = requests_[id];
  request.at = at;
  request.known = true;
  if (request.awaited || request.watched) listener_.known(request.owner, id, at);
}

void Network::release(RequestId id) {
  NetRequest& request = requests_[id];
  const bool waits_for_receiver = request.is_send && request.next != id && request.fault == Fault::none;
  if (!waits_for_receiver) return free(id);
  bounce(request);  // its buffer is the rank's again
  request.detached = true;
}

void Network::cancel(RequestId id) {
  const NetRequest& request = requests_[id];
  const bool in_mailbox = request.is_send ? request.next != id : !request.known;
  if (in_mailbox) {
    Ports& ports = ports_[static_cast<std::size_t>(request.is_send ? request.peer : request.owner)];
    const auto is_it = [&](const NetRequest& r) { return &r == &request; };
    request.is_send ? take(ports.sends, is_it) : take_recv(ports, is_it);
  }
  free(id);
}

void Network::bounce(NetRequest& send) {
  if (send.data == nullptr || send.bytes == 0) return;
  auto* copy = new std::byte[send.bytes];
  std::memcpy(copy, send.data, send.bytes);
  send.data = copy;
  send.bounced = true;
  ports_[static_cast<std::size_t>(send.owner)].kept += send.bytes;
}

void Network::drop_copy(NetRequest& send) {
  if (!send.bounced) return;
  delete[] send.data;
  send.bounced = false;
  ports_[static_cast<std::size_t>(send.owner)].kept -= send.bytes;
}

void Network::fail_rank(std::int32_t rank, Time now) {
  Ports& gone = ports_[static_cast<std::size_t>(rank)];
  gone.failed = true;
  const auto fail_one = [&](RequestId id) {
    requests_[id].fault = Fault::peer_failed;
    if (watcher_) watcher_->stranded(requests_[id], rank);
    if (requests_[id].detached)
      free(id);
    else
      complete(id, std::max(now, requests_[id].at));
  };
  while (gone.sends.head != no_request) fail_one(take(gone.sends, [](const NetRequest&) { return true; }));
  const auto needs_it = [rank](const NetRequest& r) { return r.peer == rank; };
  for (auto ports = ports_.begin(); gone.awaited > 0; ++ports) {
    for (RequestId id; (id = take_recv(*ports, needs_it)) != no_request;) fail_one(id);
  }
}

RequestId Network::acquire(const Post& post) {
  RequestId id = free_;
  if (id == no_request) {
    id = static_cast<RequestId>(requests_.size());
    requests_.emplace_back();
  } else {
    free_ = requests_[id].next;
  }
  requests_[id] = {.data = post.data,
                   .bytes = post.bytes,
                   .at = post.now,
                   .tag = post.key.tag,
                   .context = post.key.context,
                   .opcode = post.opcode,
                   .owner = post.rank,
                   .peer = post.peer,
                   .site = post.site};
  return id;
}

void Network::free(RequestId id) {
  NetRequest& request = requests_[id];
  drop_copy(request);
  request.owner = -1;
  request.next = free_;
  free_ = id;
}

void Network::enqueue(Mailbox& box, RequestId id) {
  requests_[id].next = no_request;
  if (box.tail == no_request)
    box.head = id;
  else
    requests_[box.tail].next = id;
  box.tail = id;
}

void Network::enqueue_recv(RequestId id) {
  const NetRequest& recv = requests_[id];
  if (recv.peer != any_source) ++ports_[static_cast<std::size_t>(recv.peer)].awaited;
  enqueue(ports_[static_cast<std::size_t>(recv.owner)].receives, id);
}

namespace {
std::vector<RequestId> all_of(const std::vector<NetRequest>& requests, bool sends) {
  std::vector<RequestId> found;
  for (RequestId id = 0; id < requests.size(); ++id) {
    const NetRequest& r = requests[id];
    const bool in_mailbox = r.is_send ? r.next != id : !r.known;
    if (r.owner >= 0 && r.is_send == sends && in_mailbox) found.push_back(id);
  }
  return found;
}
}  // namespace

std::vector<RequestId> Network::unmatched_sends() const { return all_of(requests_, true); }
std::vector<RequestId> Network::unmatched_receives() const { return all_of(requests_, false); }

}  // namespace dist::sim
