#include "dist/transport/host_transport.h"

#include <functional>

#include "dist/core/fail.h"

namespace dist::net {

namespace {

// What `options` are for this rank.
Op op_for(const Engine& engine, int world_size, TransportOptions&& options) {
  Op op;
  op.options = std::move(options);
  op.group_rank = op.options.members.group_rank_of(engine.rank());
  if (op.group_rank < 0)
    fail(Errc::invalid_argument, "rank {} is no member of the group of {} #{}", engine.rank(),
         op.options.label.name, op.options.label.sequence);
  for (int member : op.options.members.list())
    if (member < 0 || member >= world_size)
      fail(Errc::invalid_argument, "member {} of a group: ranks go from 0 to {}", member, world_size - 1);
  return op;
}

int global_rank(const Engine& engine, const Op& op, int rank, const TensorView& data, std::string_view deed) {
  const Members& members = op.options.members;
  if (rank < 0 || rank >= members.size())
    fail(Errc::invalid_argument, "rank {}: {} {} group rank {} of a group of {}", engine.rank(),
         op.options.label.name, deed, rank, members.size());
  if (data.device.type != DeviceType::cpu)
    fail(Errc::unsupported,
         "rank {}: {} on {}: the host transport moves CPU memory; copy to the CPU, or use a cuda "
         "backend",
         engine.rank(), op.options.label.name, data.device.str());
  return members[rank];
}

int global_rank(const Engine& engine, const Op& op, const Message& message) {
  if (!message.is_send && message.peer == any_rank) return any_rank;
  return global_rank(engine, op, message.peer, message.data, message.is_send ? "sends to" : "receives from");
}

}  // namespace

int carry(Engine& engine, int world_size, const Message& message, const MessageTerms& terms,
          const CallLabel& label) {
  const auto op = [&] {
    Op made = op_for(engine, world_size, label.options());
    global_rank(engine, made, message);  // refuses it if need be
    return made;
  };
  const bool may_be_quick =
      message.peer >= 0 && message.peer < terms.members.size() && message.data.device.type == DeviceType::cpu;
  const int peer = may_be_quick ? terms.members[message.peer] : any_rank;
  const int other = engine.carry(message.is_send, message.data, peer, terms, std::ref(op));
  return other == peer ? message.peer : terms.members.group_rank_of(other);
}

HostTransport::HostTransport(Engine& engine, ScratchCache& cache, int world_size, TransportOptions options)
    : engine_(engine), cache_(cache), op_(op_for(engine, world_size, std::move(options))) {
  engine_.open(op_);
}

HostTransport::~HostTransport() { engine_.close(op_); }

Request HostTransport::isend(TensorView data, int dst) {
  return {this,
          engine_.send(op_, data, global_rank(engine_, op_, {.is_send = true, .data = data, .peer = dst}))};
}

Request HostTransport::irecv(TensorView data, int src) {
  return {this, engine_.receive(op_, data,
                                global_rank(engine_, op_, {.is_send = false, .data = data, .peer = src}))};
}

int HostTransport::wait(std::uint64_t id) { return op_.options.members.group_rank_of(engine_.wait(id)); }

Scratch HostTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view{nullptr, count, like.dtype, cpu};
  view.data = cache_.take(view.bytes());
  return {this, view};
}

std::optional<TensorView> HostTransport::peer_view(int peer, const TensorView& theirs) {
  std::byte* here = engine_.link(global_rank(engine_, op_, peer, theirs, "maps memory of"))
                        .translate(theirs.data, theirs.bytes());
  if (!here) return std::nullopt;
  return TensorView{here, theirs.count, theirs.dtype, theirs.device};
}

}  // namespace dist::net
