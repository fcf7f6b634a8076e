#include "dist/sim/tracer.h"

#include <algorithm>

namespace dist::sim {
namespace {

constexpr int most_contributors = 64;  // ranks: bits of a RankSet

trace::RankSet own_bit(int rank, int ranks) {
  return ranks <= most_contributors ? trace::RankSet{1} << rank : 0;
}

trace::Event event_of(const TracedCall& call, int rank) {
  trace::Event event;
  event.rank = rank;
  event.group = call.context;
  event.sequence = call.sequence;
  event.name = call.name;
  event.algorithm = call.algorithm;
  event.where = call.where;
  return event;
}

}  // namespace

Tracer::Tracer(std::string title, int ranks) : recorder_(std::move(title), ranks, true) {
  for (int rank = 0; rank < ranks; ++rank)
    ranks_.push_back({{}, {}, trace::Contributors(own_bit(rank, ranks))});
}

void Tracer::call_begins(int rank, TracedCall call, Time at) {
  Rank& its = of(rank);
  // Where inputs lie in outputs (all_gather in place), the outputs' offsets hold.
  for (const auto* views : {&call.inputs, &call.outputs}) {
    std::int64_t offset = 0;
    for (const TensorView& view : *views) {
      if (view.bytes() > 0) {
        its.ranges[view.data] = {view.data + view.bytes(), offset};
        its.contributors.forget(view.data, view.bytes());
      }
      offset += static_cast<std::int64_t>(view.bytes());
    }
  }
  its.calls.push_back({std::move(call), at});
}

void Tracer::call_ends(int rank, std::uint64_t record, Time at) {
  Rank& its = of(rank);
  const auto open =
      std::ranges::find_if(its.calls, [&](const OpenCall& o) { return o.call.record == record; });
  if (open == its.calls.end()) return;
  add_call(rank, *open, at);
  for (const auto* views : {&open->call.inputs, &open->call.outputs}) {
    for (const TensorView& view : *views) its.ranges.erase(view.data);
  }
  its.calls.erase(open);
}

void Tracer::add_call(int rank, const OpenCall& open, Time end) {
  trace::Event event = event_of(open.call, rank);
  event.kind = trace::Kind::call;
  event.begin = open.begin;
  event.end = end;
  event.bytes = open.call.bytes;
  recorder_.add(std::move(event));
}

std::int64_t Tracer::offset_of(int rank, const void* data) {
  const auto& ranges = of(rank).ranges;
  const auto* const at = static_cast<const std::byte*>(data);
  const auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return -1;
  const auto& [begin, range] = *std::prev(next);
  return at < range.end ? range.offset + (at - begin) : -1;
}

trace::Event Tracer::describe(int rank, const TransportOptions& options) {
  const Channel& channel = options.channel;
  for (const auto& [call, begin] : of(rank).calls) {
    if (call.context == channel.context && call.point_to_point == channel.point_to_point &&
        call.sequence == options.label.sequence)
      return event_of(call, rank);
  }
  TracedCall unknown;  // a control message, or a transport of the simulation's own
  unknown.context = channel.context;
  unknown.sequence = options.label.sequence;
  unknown.name = options.label.name;
  unknown.where = options.label.where;
  return event_of(unknown, rank);
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
  trace::Event event;
  event.kind = trace::Kind::wait;
  event.rank = rank;
  event.begin = begin;
  event.end = end;
  event.where = where;
  recorder_.add(std::move(event));
}

void Tracer::computed(int rank, Time begin, Time end) {
  trace::Event event;
  event.kind = trace::Kind::compute;
  event.rank = rank;
  event.begin = begin;
  event.end = end;
  event.name = "compute";
  recorder_.add(std::move(event));
}

void Tracer::reduced(int rank, const void* to, const void* from, std::size_t bytes, Time begin, Time end) {
  Rank& its = of(rank);
  its.contributors.add(to, from, bytes);
  trace::Event event;
  event.kind = trace::Kind::reduce;
  event.rank = rank;
  event.begin = begin;
  event.end = end;
  event.bytes = bytes;
  event.offset = offset_of(rank, to);
  event.contributors = its.contributors.of(to, bytes);
  recorder_.add(std::move(event));
}

void Tracer::copied(int rank, const void* to, const void* from, std::size_t bytes) {
  of(rank).contributors.copy(to, from, bytes);
}

trace::Trace Tracer::take(Time now) {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    for (const OpenCall& open : of(rank).calls) add_call(rank, open, now);
  }
  return recorder_.take();
}

}  // namespace dist::sim
