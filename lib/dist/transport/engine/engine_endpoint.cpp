// EngineEndpoint: carry() in fewer steps where a message meets its receive at once, and SharedPeers: what
// direct/ needs, on the engine's links and its waiting.
#include "dist/transport/engine/engine_endpoint.h"

#include "dist/transport/engine/engine.h"
#include "dist/transport/host_endpoint.h"
#include "dist/transport/shared_peers.h"

namespace dist::net {
namespace {

int areas_of(const Engine& engine) {
  const SharedSegment* const own = engine.link(engine.rank()).shared_segment();
  return own ? own->areas() : 0;
}

Op running(TransportOptions options) {
  Op op;
  op.options = std::move(options);
  return op;
}

Error error(const Failure& failure) { return {failure.code, failure.text}; }

class EngineEndpoint final : public HostEndpoint<Engine>, private SharedPeers {
 public:
  EngineEndpoint(std::shared_ptr<Engine> engine, int world_size)
      : HostEndpoint(std::move(engine), world_size), areas_(areas_of(*engine_)) {}

  int rank() const override { return engine_->rank(); }
  std::unique_ptr<Transport> open(TransportOptions options) override {
    return HostEndpoint::open(std::move(options));
  }
  int carry(const Message& message, const MessageTerms& terms, const CallLabel& label) override {
    const auto op = [&] {
      Op made = op_for(rank(), world_size_, label.options());
      global_peer(rank(), made, message.is_send, message.data,
                  message.peer);  // throws where it must be refused
      return made;
    };
    const bool may_be_quick = message.peer >= 0 && message.peer < terms.members.size() &&
                              message.data.device.type == DeviceType::cpu;
    const int peer = may_be_quick ? terms.members[message.peer] : any_rank;
    const int other = engine_->carry(message.is_send, message.data, peer, terms, std::ref(op));
    return other == peer ? message.peer : terms.members.group_rank_of(other);
  }
  bool has_cores() const override { return engine_->has_cores(); }
  std::string link_kind(int peer) const override { return std::string(engine_->link(peer).kind()); }
  SharedPeers* shared_peers() override { return this; }

 private:
  std::optional<Peer> mapped(int peer) override {
    Link& link = engine_->link(peer);
    LinkMemory* const memory = link.memory();
    if (!memory || !memory->shift() || !link.shared_segment()) return std::nullopt;
    return Peer{*link.shared_segment(), *memory->shift(), memory->pages(), link.kind() != "shm"};
  }
  AreaPool& areas() override { return areas_; }

  void await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived) override {
    engine_->await_memory(std::move(options), peer, arrived);
  }
  void await_release(int peer, const std::function<bool()>& released) noexcept override {
    engine_->await_release(peer, released);
  }

  Error misfit(TransportOptions options, int peer, std::uint64_t bytes, const Misfit& theirs) override {
    Op op = running(std::move(options));
    return error(misfit_at_receiver(rank(), {.op = &op, .peer = peer, .bytes = bytes}, theirs, peer));
  }
  Error earlier_misfit(TransportOptions options, int peer, std::uint32_t theirs,
                       std::uint32_t mine) override {
    return error(earlier_failure(rank(), running(std::move(options)), peer, theirs, mine));
  }
  Error other_algorithm(TransportOptions options, int peer) override {
    return error(algorithm_failure(rank(), running(std::move(options)), peer));
  }
  Error withdrawal(TransportOptions options, int peer) override {
    return error(engine_->withdrawal(std::move(options), peer));
  }

  AreaPool areas_;
};

}  // namespace

std::shared_ptr<Endpoint> make_engine_endpoint(std::shared_ptr<Engine> engine, int world_size) {
  return std::make_shared<EngineEndpoint>(std::move(engine), world_size);
}

}  // namespace dist::net
