#include "dist/sim/transport.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace dist::sim {

SimTransport::SimTransport(Scheduler& scheduler, Members members, int group_rank, const Channel& channel,
                           SendMode mode)
    : scheduler_(scheduler),
      members_(std::move(members)),
      channel_(channel),
      mode_(mode),
      rank_(group_rank),
      global_rank_(members_[group_rank]) {}

Network::Post SimTransport::post(const TensorView& data, int peer) const {
  return {.rank = global_rank_,
          .peer = peer,
          .key = {channel_.tag, channel_.context * 2 + (channel_.point_to_point ? 1U : 0U)},
          .opcode = channel_.opcode,
          .data = data.data,
          .bytes = data.bytes(),
          .now = scheduler_.now()};
}

Request SimTransport::isend(TensorView data, int dst) {
  Network::Post send = post(data, members_[dst]);
  send.rendezvous = mode_ == SendMode::rendezvous;
  return {this, scheduler_.network().post_send(send)};
}

Request SimTransport::irecv(TensorView data, int src) {
  return {this, scheduler_.network().post_recv(post(data, src == any_rank ? any_source : members_[src]))};
}

int SimTransport::wait(std::uint64_t id) {
  const auto request = static_cast<RequestId>(id);
  scheduler_.await(request);
  const NetRequest& done = scheduler_.network()[request];
  if (done.fault != Fault::none) raise(request);
  const int peer = done.peer;
  scheduler_.network().release(request);
  return members_.group_rank_of(peer);
}

bool SimTransport::test(std::uint64_t id) { return scheduler_.reached(static_cast<RequestId>(id)); }

void SimTransport::cancel(std::uint64_t id) noexcept {
  scheduler_.network().cancel(static_cast<RequestId>(id));
}

void SimTransport::raise(RequestId id) {
  const NetRequest request = scheduler_.network()[id];
  scheduler_.network().release(id);
  const auto* const verb = request.is_send ? "to" : "from";
  switch (request.fault) {
    case Fault::size_mismatch:
      fail(Errc::mismatch, "rank {}: a message of {} bytes {} rank {} has another size there", global_rank_,
           request.bytes, verb, request.peer);
    case Fault::opcode_mismatch:
      fail(Errc::mismatch, "rank {}: a message {} rank {} belongs to another operation there", global_rank_,
           verb, request.peer);
    case Fault::peer_failed:
      fail(Errc::peer_failed, "rank {}: a message {} rank {}, which has failed", global_rank_, verb,
           request.peer);
    case Fault::none: break;
  }
  fail(Errc::internal, "rank {}: a request without a fault was raised", global_rank_);
}

Scratch SimTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view = like;
  view.count = count;
  view.data = like.data == nullptr
                  ? nullptr
                  : static_cast<std::byte*>(::operator new(std::max<std::size_t>(view.bytes(), 1)));
  return {this, view};
}

void SimTransport::free_scratch(TensorView view) noexcept { ::operator delete(view.data); }

}  // namespace dist::sim
