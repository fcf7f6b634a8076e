// connect_endpoint(), and what both kinds of host endpoints check before an operation and before a message.
#include "dist/transport/host_endpoint.h"

#include "dist/core/fail.h"
#include "dist/transport/engine/engine_endpoint.h"
#include "dist/transport/mesh/mesh.h"
#include "dist/transport/plain/plain.h"

namespace dist::net {

Op op_for(int rank, int world_size, TransportOptions options) {
  Op op;
  op.options = std::move(options);
  op.group_rank = op.options.members.group_rank_of(rank);
  if (op.group_rank < 0)
    fail(Errc::invalid_argument, "rank {} is not a member of the group of {} #{}", rank,
         op.options.label.name, op.options.label.sequence);
  for (int member : op.options.members.list())
    if (member < 0 || member >= world_size)
      fail(Errc::invalid_argument, "member {} of a group: ranks go from 0 to {}", member, world_size - 1);
  return op;
}

int global_peer(int rank, const Op& op, bool is_send, const TensorView& data, int peer) {
  const Members& members = op.options.members;
  if (!is_send && peer == any_rank) return any_rank;
  if (peer < 0 || peer >= members.size())
    fail(Errc::invalid_argument, "rank {}: {} {} group rank {} of a group of {}", rank, op.options.label.name,
         is_send ? "sends to" : "receives from", peer, members.size());
  if (data.device.type != DeviceType::cpu)
    fail(Errc::unsupported,
         "rank {}: {} on {}: the host transport moves CPU memory; copy to the CPU, or use a cuda "
         "backend",
         rank, op.options.label.name, data.device.str());
  return members[peer];
}

}  // namespace dist::net

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
