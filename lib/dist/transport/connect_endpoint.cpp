#include "dist/transport/endpoint.h"
#include "dist/transport/engine/engine.h"
#include "dist/transport/host_transport.h"
#include "dist/transport/mesh/mesh.h"
#include "dist/transport/peer_memory.h"
#include "dist/transport/plain/plain.h"

namespace dist {
namespace {

// An endpoint over net::Engine or plain::Plain.
template <class Engine>
class HostEndpoint : public Endpoint {
 public:
  HostEndpoint(std::shared_ptr<Engine> engine, int world_size)
      : engine_(std::move(engine)), world_size_(world_size) {}

  int rank() const final { return engine_->rank(); }
  int world_size() const final { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) final {
    return std::make_unique<net::HostTransport<Engine>>(*engine_, scratch_, world_size_, std::move(options));
  }
  void progress(Timeout patience) final { engine_->progress(patience); }
  void interrupt() final { engine_->interrupt(); }
  void abort(const std::string& reason) final { engine_->abort(reason); }
  void close(const std::string& reason) noexcept final { engine_->leave(reason); }

 protected:
  const std::shared_ptr<Engine> engine_;
  net::ScratchCache scratch_;
  const int world_size_;
};

class FastEndpoint final : public HostEndpoint<net::Engine> {
 public:
  using HostEndpoint::HostEndpoint;
  // Takes fewer steps when the message meets its receive at once.
  int carry(const Message& message, const MessageTerms& terms, const CallLabel& label) override {
    const auto op = [&] {
      net::Op made = net::op_for(rank(), world_size_, label.options());
      net::global_peer(rank(), made, message);  // throws where the message must be refused
      return made;
    };
    const bool may_be_quick = message.peer >= 0 && message.peer < terms.members.size() &&
                              message.data.device.type == DeviceType::cpu;
    const int peer = may_be_quick ? terms.members[message.peer] : any_rank;
    const int other = engine_->carry(message.is_send, message.data, peer, terms, std::ref(op));
    return other == peer ? message.peer : terms.members.group_rank_of(other);
  }
  std::unique_ptr<PeerMemory> map_peers(TransportOptions options) override {
    net::HostTransport<net::Engine> transport(*engine_, scratch_, world_size_, options);
    return net::map_peers(*engine_, transport, options);
  }
  bool has_cores() const override { return engine_->has_cores(); }
  std::string link_kind(int peer) const override { return std::string(engine_->link(peer).kind()); }
};

class PlainEndpoint final : public HostEndpoint<net::plain::Plain> {
 public:
  using HostEndpoint::HostEndpoint;
  bool moves_alone() const override { return true; }
  std::string link_kind(int peer) const override { return peer == rank() ? "self" : "plain"; }
};

}  // namespace

std::shared_ptr<Endpoint> connect_endpoint(Store& store, const EndpointOptions& options) {
  if (options.transport == "plain")
    return std::make_shared<PlainEndpoint>(
        std::make_shared<net::plain::Plain>(options.rank, net::plain::connect(store, options)),
        options.world_size);
  return std::make_shared<FastEndpoint>(net::Mesh(store, options).connect(), options.world_size);
}

}  // namespace dist
