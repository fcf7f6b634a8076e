#include "dist/launch/sim_observer.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "dist/group/work_watch.h"

namespace dist::sim {

// Inputs are read; outputs are written (and read, where the operation works in place).
std::vector<SimObserver::Range> SimObserver::ranges_of(const Operation& operation) {
  std::vector<Range> ranges;
  const auto add = [&](const std::vector<Tensor>& tensors, bool written) {
    for (const Tensor& tensor : tensors) {
      const TensorView view = tensor.flat();
      if (view.count > 0) ranges.push_back({view.data, view.data + view.bytes(), written});
    }
  };
  add(operation.inputs, false);
  add(operation.outputs, true);
  return ranges;
}

// Of what is sent (FNV-1a).
std::uint64_t SimObserver::digest_of(const Operation& operation) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const Tensor& tensor : operation.inputs) {
    const TensorView view = tensor.flat();
    for (std::size_t i = 0; i < view.bytes(); ++i)
      digest = (digest ^ static_cast<std::uint64_t>(view.data[i])) * 0x100000001b3u;
  }
  return digest;
}

check::Party SimObserver::party_of(const Operation& operation) const {
  return {rank_, operation.doing(), operation.where, {}};
}

void SimObserver::issued(const GroupState& group, const Operation& operation, bool async) {
  if (!simulation_) return;
  if (is_collective(operation.kind)) simulation_->compare_collective(rank_, group, operation);
  if (!async && in_flight_.empty()) return;
  InFlight fresh{operation, ranges_of(operation), 0};
  compare_with_those_in_flight(fresh);
  if (!async) return;
  fresh.digest = digest_of(operation);
  in_flight_.push_back(std::move(fresh));
}

void SimObserver::compare_with_those_in_flight(const InFlight& fresh) {
  const auto overlap = [](const Range& a, const Range& b) {
    return (a.written || b.written) && a.begin < b.end && b.begin < a.end;
  };
  for (const InFlight& other : in_flight_) {
    const bool shared = std::ranges::any_of(fresh.ranges, [&](const Range& a) {
      return std::ranges::any_of(other.ranges, [&](const Range& b) { return overlap(a, b); });
    });
    if (!shared) continue;
    simulation_->note({check::Code::overlap,
                       fmt::format("rank {} starts {} on memory that {} still uses", rank_,
                                   fresh.operation.doing(), other.operation.doing()),
                       {party_of(other.operation), party_of(fresh.operation)}});
    return;
  }
}

std::vector<SimObserver::InFlight>::iterator SimObserver::find(std::uint64_t record) {
  return std::ranges::find_if(in_flight_, [&](const InFlight& f) { return f.operation.record == record; });
}

void SimObserver::ended(std::uint64_t record) {
  const auto found = find(record);
  if (found == in_flight_.end()) return;
  const InFlight flown = std::move(*found);
  in_flight_.erase(found);
  if (!simulation_ || flown.digest == digest_of(flown.operation)) return;
  const check::Party party = party_of(flown.operation);
  simulation_->note({check::Code::changed_before_wait,
                     fmt::format("rank {} changed what {} sends before its wait()", rank_, party.doing),
                     {party}});
}

void SimObserver::never_waited(const CallNote& call) {
  if (const auto found = find(call.record); found != in_flight_.end()) in_flight_.erase(found);
  if (!simulation_ || std::uncaught_exceptions() > 0) return;
  simulation_->note_unless_failed(dropped_work(call));
}

bool SimObserver::found(check::Finding finding) {
  if (simulation_) simulation_->note_together(std::move(finding));
  return simulation_ != nullptr;
}

}  // namespace dist::sim
