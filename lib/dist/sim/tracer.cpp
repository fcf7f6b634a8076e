// Tracer: turns what scheduler, network and transport report into events. A message's event is begun when it
// is posted and completed when it is sent and has arrived; contributors follow every sum, copy and message.
#include "dist/sim/tracer.h"

#include <algorithm>
#include <utility>

namespace dist::sim {
namespace {

constexpr int most_contributors = 64;  // ranks: the bits of a RankSet

trace::RankSet own_bit(int rank, int ranks) {
  return ranks <= most_contributors ? trace::RankSet{1} << rank : 0;
}

trace::Event event_of(trace::Kind kind, int rank, Time begin, Time end) {
  trace::Event event;
  event.kind = kind;
  event.rank = rank;
  event.begin = begin;
  event.end = end;
  return event;
}

}  // namespace

Tracer::Tracer(std::string title, int ranks) : recorder_(std::move(title), ranks, true) {
  for (int rank = 0; rank < ranks; ++rank) ranks_.push_back({{}, trace::Contributors(own_bit(rank, ranks))});
}

void Tracer::allocated(int rank, const void* memory, std::size_t bytes) {
  of(rank).contributors.forget(memory, bytes);
}

void Tracer::call_begins(int rank, trace::Call call, Time at) {
  Rank& its = of(rank);
  // A collective begins with what each rank contributes; a message passes on what is in it already.
  for (const auto* views : {&call.inputs, &call.outputs}) {
    if (call.point_to_point) break;
    for (const TensorView& view : *views) its.contributors.forget(view.data, view.bytes());
  }
  call.event.kind = trace::Kind::call;
  call.event.rank = rank;
  call.event.begin = at;
  trace::Offsets offsets(call);
  its.calls.push_back({std::move(call), std::move(offsets)});
}

void Tracer::call_ends(int rank, std::uint64_t record, Time at, trace::Ending ending) {
  auto& calls = of(rank).calls;
  const auto open = std::ranges::find_if(calls, [&](const OpenCall& o) { return o.call.record == record; });
  if (open == calls.end()) return;
  add_call(*open, at, ending);
  calls.erase(open);
}

void Tracer::lost(int rank, Time at) {
  for (const OpenCall& open : std::exchange(of(rank).calls, {})) add_call(open, at, trace::Ending::cut_off);
}

void Tracer::add_call(const OpenCall& open, Time end, trace::Ending ending) {
  trace::Event event = open.call.event;
  event.end = end;
  event.ending = ending;
  recorder_.add(std::move(event));
}

std::int64_t Tracer::offset_of(int rank, const void* data) {
  for (const OpenCall& open : of(rank).calls) {
    if (const std::int64_t offset = open.offsets.of(data); offset >= 0) return offset;
  }
  return -1;
}

trace::Event Tracer::describe(int rank, const TransportOptions& options) {
  const Channel& channel = options.channel;
  for (const auto& [call, offsets] : of(rank).calls) {
    if (call.event.group == channel.context && call.point_to_point == channel.point_to_point &&
        call.number == options.label.sequence)
      return call.event;
  }
  trace::Event event;  // for a control message, or a transport of the simulation's own
  event.rank = rank;
  event.group = channel.context;
  event.sequence = options.label.sequence;
  event.name = options.label.name;
  event.where = options.label.where;
  return event;
}

void Tracer::posting(std::uint32_t number, int rank, const TransportOptions& options, const TensorView& data,
                     bool is_send, Time at) {
  Message message{describe(rank, options), data.data};
  message.event.begin = at;
  message.event.bytes = data.bytes();
  message.event.offset = offset_of(rank, data.data);
  if (is_send) message.event.contributors = of(rank).contributors.of(data.data, data.bytes());
  messages_.emplace(number, std::move(message));
}

void Tracer::sent(const NetRequest& send, Time begin, Time end) {
  const auto found = messages_.find(send.site);
  if (found == messages_.end()) return;
  trace::Event event = found->second.event;
  event.kind = trace::Kind::send;
  event.peer = send.peer;
  event.message = send.site;
  event.begin = begin;
  event.end = end;
  recorder_.add(std::move(event));
}

void Tracer::arrived(const NetRequest& send, const NetRequest& recv, Time at) {
  const auto sent = messages_.find(send.site), posted = messages_.find(recv.site);
  if (sent == messages_.end() || posted == messages_.end()) return;
  trace::Event event = std::move(posted->second.event);
  event.kind = trace::Kind::receive;
  event.peer = send.owner;
  event.message = send.site;
  event.bytes = send.bytes;
  event.contributors = sent->second.event.contributors;
  event.end = at;
  of(recv.owner).contributors.set(posted->second.data, send.bytes, event.contributors);
  messages_.erase(sent);
  messages_.erase(recv.site);
  recorder_.add(std::move(event));
}

void Tracer::waited(int rank, Time begin, Time end, CallSite where) {
  if (begin == end) return;
  trace::Event event = event_of(trace::Kind::wait, rank, begin, end);
  event.where = where;
  recorder_.add(std::move(event));
}

void Tracer::computed(int rank, Time begin, Time end) {
  trace::Event event = event_of(trace::Kind::compute, rank, begin, end);
  event.name = "compute";
  recorder_.add(std::move(event));
}

void Tracer::reduced(int rank, const void* to, const void* from, std::size_t bytes, Time begin, Time end) {
  Rank& its = of(rank);
  its.contributors.add(to, from, bytes);
  trace::Event event = event_of(trace::Kind::reduce, rank, begin, end);
  event.bytes = bytes;
  event.offset = offset_of(rank, to);
  event.contributors = its.contributors.of(to, bytes);
  recorder_.add(std::move(event));
}

void Tracer::copied(int rank, const void* to, const void* from, std::size_t bytes) {
  of(rank).contributors.copy(to, from, bytes);
}

trace::Trace Tracer::take(Time now) {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) lost(rank, now);
  return recorder_.take();
}

}  // namespace dist::sim
