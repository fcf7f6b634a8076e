// Waiting for memory that peers write instead of sending messages (shared_peers.h): await_memory() blocks
// until a predicate on it is true, or throws; await_release() waits without an error.
#include "dist/transport/engine/engine.h"

namespace dist::net {
namespace {

// How long to wait for a peer that may be stopped while it works on this rank's memory.
constexpr std::chrono::seconds stopped_peer_patience{2};

// Registers a predicate that the leader polls, under the lock, for as long as this object lives.
class Watched {
 public:
  using List = std::vector<const std::function<bool()>*>;
  Watched(List& list, const std::function<bool()>& arrived) : list_(list), arrived_(&arrived) {
    list_.push_back(arrived_);
  }
  ~Watched() { std::erase(list_, arrived_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  List& list_;
  const std::function<bool()>* arrived_;
};

// The facts of a receive from `peer`, for report.h.
Transfer wanted_from(Op& op, int peer, std::uint64_t bytes) {
  Transfer wanted;
  wanted.op = &op;
  wanted.peer = peer;
  wanted.bytes = bytes;
  return wanted;
}

}  // namespace

void Engine::await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived) {
  Op op;
  op.options = std::move(options);
  open(op);
  Failure failure;
  {
    Lock lock = leader_lock_.enter();
    const auto kind_of_peer = [&] { return peers_[static_cast<std::size_t>(peer)].kind; };
    const auto is_over = [&] {
      return arrived() || op.failure || kind_of_peer() != PeerState::Kind::present;
    };
    {
      const Watched watched(watched_, arrived);
      await_change(lock, is_over, op.options.deadline);
    }
    if (!arrived()) {
      const Transfer wanted = wanted_from(op, peer, op.options.bytes);
      if (op.failure)
        failure = op.failure;
      else
        failure = kind_of_peer() == PeerState::Kind::present ? timeout_failure(rank(), wanted)
                                                             : report_left(wanted);
    }
  }
  close(op);
  if (failure) raise(failure);
}

void Engine::await_release(int peer, const std::function<bool()>& released) noexcept {
  const Deadline patience = Deadline::after(stopped_peer_patience);
  Lock lock = leader_lock_.enter();
  while (!released() && !patience.passed()) {
    if (peers_[static_cast<std::size_t>(peer)].kind != PeerState::Kind::present) return;
    advance(lock);
    Poller::Events events;
    handle(poller_.wait(events, 1));  // the connection of a process that has ended closes
  }
}

// A rank that gives up because of another rank has passed that news on before: it can be read here.
Failure Engine::withdrawal(TransportOptions options, int peer) {
  Op op;
  op.options = std::move(options);
  open(op);
  {
    Lock lock = leader_lock_.enter();
    while (!op.failure && advance(lock)) {
    }
  }
  close(op);
  return op.failure ? op.failure : cancelled_failure(rank(), wanted_from(op, peer, op.options.bytes));
}

}  // namespace dist::net
