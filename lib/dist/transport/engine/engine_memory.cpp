// Waiting for what peers write into shared memory instead of sending it (peer_memory.h).
#include "dist/transport/engine/engine.h"

namespace dist::net {
namespace {

// A peer that was stopped while it works on this rank's memory cannot be waited for for ever.
constexpr std::chrono::seconds stopped_peer_patience{2};

[[noreturn]] void raise(const Failure& failure) { throw Error(failure.code, failure.text); }

// Looked at for as long as this lives, under the lock.
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

// A receive from `peer` in the eyes of report.h.
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
        failure = kind_of_peer() == PeerState::Kind::present ? timeout_trouble(rank(), wanted)
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
    handle(poller_.wait(events, 1));  // a process that has ended closes its connection
  }
}

void Engine::fail_misfit(TransportOptions options, int peer, std::uint64_t bytes, const Frame& theirs) {
  Op op;
  op.options = std::move(options);
  raise(misfit_at_receiver(rank(), wanted_from(op, peer, bytes),
                           {theirs.opcode, theirs.bytes, theirs.elements()}, peer));
}

void Engine::fail_earlier(TransportOptions options, int peer, std::uint32_t theirs, std::uint32_t mine) {
  Op op;
  op.options = std::move(options);
  raise(earlier_trouble(rank(), op, peer, theirs, mine));
}

void Engine::fail_algorithm(TransportOptions options, int peer) {
  Op op;
  op.options = std::move(options);
  raise(algorithm_trouble(rank(), op, peer));
}

// Whoever gives up because of another rank has passed the news of it on before: it is there to be read.
void Engine::fail_withdrawn(TransportOptions options, int peer) {
  Op op;
  op.options = std::move(options);
  open(op);
  {
    Lock lock = leader_lock_.enter();
    while (!op.failure && advance(lock)) {
    }
  }
  close(op);
  raise(op.failure ? op.failure : cancelled_trouble(rank(), wanted_from(op, peer, op.options.bytes)));
}

}  // namespace dist::net
