#include "dist/transport/endpoint.h"

#include "dist/transport/engine.h"
#include "dist/transport/host_transport.h"
#include "dist/transport/mesh.h"
#include "dist/transport/peer_memory.h"

namespace dist {
namespace {

class HostEndpoint final : public Endpoint {
 public:
  HostEndpoint(std::shared_ptr<net::Engine> engine, int world_size)
      : engine_(std::move(engine)), world_size_(world_size) {}

  int rank() const override { return engine_->rank(); }
  int world_size() const override { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) override {
    return std::make_unique<net::HostTransport>(*engine_, scratch_, world_size_, std::move(options));
  }
  int carry(const Message& message, const MessageTerms& terms, const CallLabel& label) override {
    return net::carry(*engine_, world_size_, message, terms, label);
  }
  std::unique_ptr<PeerMemory> map_peers(TransportOptions options) override {
    net::HostTransport transport(*engine_, scratch_, world_size_, options);
    return net::map_peers(*engine_, transport, options);
  }
  void progress(Timeout patience) override { engine_->progress(patience); }
  void interrupt() override { engine_->interrupt(); }
  void abort(const std::string& reason) override { engine_->abort(reason); }
  void close(const std::string& reason) noexcept override { engine_->leave(reason); }
  bool has_cores() const override { return engine_->has_cores(); }
  std::string link_kind(int peer) const override { return std::string(engine_->link(peer).kind()); }

 private:
  std::shared_ptr<net::Engine> engine_;
  net::ScratchCache scratch_;
  int world_size_;
};

}  // namespace

Endpoint::~Endpoint() = default;

TransportOptions options_for(const MessageTerms& terms, const CallLabel& label) {
  TransportOptions options = label.options();
  options.deadline = Deadline::after(terms.timeout);
  return options;
}

int Endpoint::carry(const Message& message, const MessageTerms& terms, const CallLabel& label) {
  const auto transport = open(options_for(terms, label));
  return start(*transport, message).wait();
}

std::unique_ptr<PeerMemory> Endpoint::map_peers(TransportOptions) { return nullptr; }

std::shared_ptr<Endpoint> connect_endpoint(Store& store, const EndpointOptions& options) {
  return std::make_shared<HostEndpoint>(net::Mesh(store, options).connect(), options.world_size);
}

Request start(Transport& transport, const Message& message) {
  return message.is_send ? transport.isend(message.data, message.peer)
                         : transport.irecv(message.data, message.peer);
}

std::string str(const OpLabel& label) { return describe_call(label.name, label.sequence, label.what.str()); }

}  // namespace dist
