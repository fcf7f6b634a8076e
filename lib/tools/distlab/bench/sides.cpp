#include "distlab/bench/sides.h"

#include "dist/core/device.h"
#include "dist/group/diagnosis/flight_recorder.h"
#include "dist/group/group_state.h"
#include "dist/group/job_state.h"

namespace distlab::bench {
namespace {

// Calls `call` `calls` times, each time with the next slot, beginning with `next`.
template <class Slots, class Call>
void rotate(Slots& slots, std::size_t& next, std::int64_t calls, Call&& call) {
  for (; calls > 0; --calls) {
    call(slots[next]);
    if (++next == slots.size()) next = 0;
  }
}

std::string algorithm_of_last_call() {
  const auto records = dist::default_group().state()->job->log->recorder.snapshot();
  const bool is_known = !records.empty() && !records.back().algorithm.empty();
  return is_known ? std::string(records.back().algorithm) : "-";
}

}  // namespace

OurSide::OurSide(const Question& question, const std::string& algorithm, std::vector<Slot>& slots,
                 const dist::ProcessGroup& group)
    : question_(question), slots_(slots) {
  options_.algorithm = algorithm;
  options_.group = group;
}

void OurSide::run(std::int64_t calls) {
  call(calls);
  const dist::Tensor& some = slots_[0].in.is_defined() ? slots_[0].in : slots_[0].out;
  if (!some.is_defined() || some.device() == dist::cpu) return;
  dist::device_api(some.device().type).synchronize(some.device(), dist::current_stream(some.device()));
}

void OurSide::call(std::int64_t calls) {
  const auto each = [&](auto&& call) { rotate(slots_, next_, calls, call); };
  const dist::ReduceOp op = question_.op;
  const int root = question_.root;
  switch (question_.collective) {
    case Collective::all_reduce: return each([&](Slot& slot) { dist::all_reduce(slot.out, op, options_); });
    case Collective::broadcast: return each([&](Slot& slot) { dist::broadcast(slot.out, root, options_); });
    case Collective::reduce: return each([&](Slot& slot) { dist::reduce(slot.out, root, op, options_); });
    case Collective::all_gather:
      return each([&](Slot& slot) { dist::all_gather_into_tensor(slot.out, slot.in, options_); });
    case Collective::reduce_scatter:
      return each([&](Slot& slot) { dist::reduce_scatter_tensor(slot.out, slot.in, op, options_); });
    case Collective::all_to_all:
      return each([&](Slot& slot) { dist::all_to_all_single(slot.out, slot.in, {}, {}, options_); });
    case Collective::scatter:
      return each([&](Slot& slot) { dist::scatter(slot.out, slot.list, root, options_); });
    case Collective::gather:
      return each([&](Slot& slot) { dist::gather(slot.in, slot.list, root, options_); });
    case Collective::barrier: return each([&](Slot&) { dist::barrier(options_); });
    case Collective::send_recv: return each([&](Slot& slot) { ping_pong(slot); });
  }
}

void OurSide::ping_pong(Slot& slot) {
  const int partner = question_.partner();
  if (partner < 0) return;
  const bool begins = question_.rank < partner;
  if (begins) dist::send(slot.in, partner, options_);
  dist::recv(slot.out, partner, options_);
  if (!begins) dist::send(slot.in, partner, options_);
}

dist::Tensor OurSide::answer() {
  next_ = 0;
  run(1);
  algorithm_ = algorithm_of_last_call();
  return slots_[0].out;
}

PeerSide::PeerSide(const Question& question, Form form, Peer& peer, std::vector<Slot>& slots)
    : question_(question), form_(form), peer_(peer), slots_(slots) {
  const auto address = [](const dist::Tensor& tensor) {
    return tensor.is_defined() ? tensor.raw() : nullptr;
  };
  for (const Slot& slot : slots) {
    calls_.push_back({address(slot.in), address(slot.out), question.count, question.dtype, question.op,
                      question.root, form == Form::in_place});
  }
}

void PeerSide::run(std::int64_t calls) {
  const auto each = [&](auto&& call) { rotate(calls_, next_, calls, call); };
  switch (question_.collective) {
    case Collective::all_reduce: return each([&](const PeerCall& call) { peer_.all_reduce(call); });
    case Collective::broadcast: return each([&](const PeerCall& call) { peer_.broadcast(call); });
    case Collective::reduce: return each([&](const PeerCall& call) { peer_.reduce(call); });
    case Collective::all_gather: return each([&](const PeerCall& call) { peer_.all_gather(call); });
    case Collective::reduce_scatter: return each([&](const PeerCall& call) { peer_.reduce_scatter(call); });
    case Collective::all_to_all: return each([&](const PeerCall& call) { peer_.all_to_all(call); });
    case Collective::scatter: return each([&](const PeerCall& call) { peer_.scatter(call); });
    case Collective::gather: return each([&](const PeerCall& call) { peer_.gather(call); });
    case Collective::barrier: return each([&](const PeerCall&) { peer_.barrier(); });
    case Collective::send_recv: return each([&](const PeerCall& call) { ping_pong(call); });
  }
}

void PeerSide::ping_pong(const PeerCall& call) {
  const int partner = question_.partner();
  if (partner < 0) return;
  const bool begins = question_.rank < partner;
  if (begins) peer_.send(call, partner);
  peer_.recv(call, partner);
  if (!begins) peer_.send(call, partner);
}

dist::Tensor PeerSide::answer() {
  next_ = 0;
  run(1);
  // After a reduce-scatter in place, MPI's result is at the beginning, not at the rank's part.
  const bool at_beginning = question_.collective == Collective::reduce_scatter && form_ == Form::in_place;
  return at_beginning ? slots_[0].in.narrow(0, question_.count) : slots_[0].out;
}

}  // namespace distlab::bench
