#include "dist/transport/host_transport.h"

#include "dist/core/fail.h"

namespace dist::net {

HostTransport::HostTransport(Engine& engine, ScratchCache& cache, int world_size, TransportOptions options)
    : engine_(engine), cache_(cache) {
  op_.options = std::move(options);
  op_.group_rank = op_.options.members.group_rank_of(engine.rank());
  if (op_.group_rank < 0)
    fail(Errc::invalid_argument, "rank {} is no member of the group of {} #{}", engine.rank(),
         op_.options.label.name, op_.options.label.sequence);
  for (int member : op_.options.members.list())
    if (member < 0 || member >= world_size)
      fail(Errc::invalid_argument, "member {} of a group: ranks go from 0 to {}", member, world_size - 1);
  engine_.open(op_);
}

HostTransport::~HostTransport() { engine_.close(op_); }

int HostTransport::global_rank(int rank, const TensorView& data, std::string_view deed) const {
  if (rank < 0 || rank >= size())
    fail(Errc::invalid_argument, "rank {}: {} {} group rank {} of a group of {}", engine_.rank(),
         op_.options.label.name, deed, rank, size());
  if (data.device.type != DeviceType::cpu)
    fail(Errc::unsupported,
         "rank {}: {} on {}: the host transport moves CPU memory; copy to the CPU, or use a cuda "
         "backend",
         engine_.rank(), op_.options.label.name, data.device.str());
  return op_.options.members[rank];
}

Request HostTransport::isend(TensorView data, int dst) {
  const int peer = global_rank(dst, data, "sends to");
  return {this, engine_.send(op_, data, peer)};
}

Request HostTransport::irecv(TensorView data, int src) {
  const int peer = src == any_rank ? any_rank : global_rank(src, data, "receives from");
  return {this, engine_.receive(op_, data, peer)};
}

int HostTransport::wait(std::uint64_t id) { return op_.options.members.group_rank_of(engine_.wait(id)); }

Scratch HostTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view{nullptr, count, like.dtype, cpu};
  view.data = cache_.take(view.bytes());
  return {this, view};
}

std::optional<TensorView> HostTransport::peer_view(int peer, const TensorView& theirs) {
  std::byte* here =
      engine_.link(global_rank(peer, theirs, "maps memory of")).translate(theirs.data, theirs.bytes());
  if (!here) return std::nullopt;
  return TensorView{here, theirs.count, theirs.dtype, theirs.device};
}

}  // namespace dist::net
