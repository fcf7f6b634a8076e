#include "dist/transport/engine/engine_endpoint.h"
#include "dist/transport/host_endpoint.h"
#include "dist/transport/mesh/mesh.h"
#include "dist/transport/plain/plain.h"

namespace dist {
namespace {

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
  return net::make_engine_endpoint(net::Mesh(store, options).connect(), options.world_size);
}

}  // namespace dist
