#include "dist/transport/host_transport.h"

#include "dist/core/fail.h"

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

int global_peer(int rank, const Op& op, const Message& message) {
  const Members& members = op.options.members;
  if (!message.is_send && message.peer == any_rank) return any_rank;
  if (message.peer < 0 || message.peer >= members.size())
    fail(Errc::invalid_argument, "rank {}: {} {} group rank {} of a group of {}", rank, op.options.label.name,
         message.is_send ? "sends to" : "receives from", message.peer, members.size());
  if (message.data.device.type != DeviceType::cpu)
    fail(Errc::unsupported,
         "rank {}: {} on {}: the host transport moves CPU memory; copy to the CPU, or use a cuda "
         "backend",
         rank, op.options.label.name, message.data.device.str());
  return members[message.peer];
}

}  // namespace dist::net
