// RankTracer: the calls that are open, from beginning to end, and the events that are complete. A call's own
// event is added when it ends; transfers find their open call by group and number.
#include "dist/trace/rank_tracer.h"

#include <algorithm>
#include <utility>

namespace dist::trace {
namespace {

constexpr std::int64_t shortest_wait = 1'000'000;  // ps

}  // namespace

RankTracer::RankTracer(int rank, int ranks, std::string title)
    : rank_(rank),
      ranks_(ranks),
      recorder_(std::move(title), ranks),
      numbers_(std::make_shared<MessageNumbers>(rank)) {}

void RankTracer::start(Clock::time_point origin) {
  origin_ = origin;
  running_.store(true, std::memory_order_release);
}

std::int64_t RankTracer::at(Clock::time_point time) const {
  constexpr std::int64_t ps_per_ns = 1000;
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time - origin_);
  return std::max<std::int64_t>(since.count(), 0) * ps_per_ns;
}

void RankTracer::call_begins(Call call) {
  if (!is_running()) return;
  call.event.kind = Kind::call;
  call.event.rank = rank_;
  call.event.begin = now();
  Offsets offsets(call);
  auto shared = std::make_shared<const CallNow>(
      CallNow{std::move(call.event), call.async, call.may_reduce, std::move(offsets)});
  const std::lock_guard lock(mutex_);
  open_[call.record] = {call.number, call.point_to_point, std::move(shared)};
}

void RankTracer::call_runs(std::uint64_t record, std::string_view algorithm, bool in_shared_memory) {
  if (!is_running()) return;
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(record);
  if (found == open_.end()) return;
  auto call = std::make_shared<CallNow>(*found->second.call);
  call->event.algorithm = algorithm;
  call->event.in_shared_memory = in_shared_memory;
  found->second.call = std::move(call);
}

void RankTracer::call_ends(std::uint64_t record, Ending ending) {
  if (!is_running()) return;
  const std::int64_t end = now();
  std::shared_ptr<const CallNow> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(record);
    if (found == open_.end()) return;
    call = std::move(found->second.call);
    open_.erase(found);
  }
  add_call(*call, end, ending);
}

void RankTracer::add_call(const CallNow& call, std::int64_t end, Ending ending) {
  Event event = call.event;
  event.end = end;
  event.ending = ending;
  recorder_.add(std::move(event));
}

std::shared_ptr<const CallNow> RankTracer::find_call(std::uint32_t context, bool point_to_point,
                                                     std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(open_, [&](const auto& entry) {
    const Open& open = entry.second;
    return open.call->event.group == context && open.point_to_point == point_to_point &&
           open.number == number;
  });
  return found == open_.end() ? nullptr : found->second.call;
}

void RankTracer::add(Event event) {
  if (is_running()) recorder_.add(std::move(event));
}

void RankTracer::waited(const Event& like, std::int64_t begin) {
  Event event = like;
  event.kind = Kind::wait;
  event.begin = begin;
  event.end = now();
  event.bytes = 0;
  if (event.end - event.begin >= shortest_wait) add(std::move(event));
}

Trace RankTracer::take() {
  const std::int64_t end = now();
  running_ = false;
  const std::lock_guard lock(mutex_);
  for (const auto& [record, open] : open_)
    add_call(*open.call, std::max(end, open.call->event.begin), Ending::cut_off);
  open_.clear();
  return recorder_.take();
}

}  // namespace dist::trace
