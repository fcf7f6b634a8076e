#include "dist/launch/sim_observer.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

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
  const std::string what = operation.what();
  return {rank_,
          fmt::format("{} #{}{}", name(operation.kind), operation.sequence,
                      what.empty() ? "" : " (" + what + ")"),
          operation.where,
          {}};
}

void SimObserver::issued(const GroupState& group, const Operation& operation, bool async) {
  if (!simulation_) return;
  if (is_collective(operation.kind)) simulation_->compare_collective(rank_, group, operation);
  if (!async && in_flight_.empty()) return;
  InFlight fresh{operation.record, party_of(operation), ranges_of(operation), 0};
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
                       fmt::format("rank {} starts {} on memory that {} still uses", rank_, fresh.party.doing,
                                   other.party.doing),
                       {other.party, fresh.party}});
    return;
  }
}

void SimObserver::ended(const Operation& operation) {
  const auto found = std::ranges::find(in_flight_, operation.record, &InFlight::record);
  if (found == in_flight_.end()) return;
  const InFlight flown = std::move(*found);
  in_flight_.erase(found);
  if (!simulation_ || flown.digest == digest_of(operation)) return;
  simulation_->note({check::Code::changed_before_wait,
                     fmt::format("rank {} changed what {} sends before its wait()", rank_, flown.party.doing),
                     {flown.party}});
}

void SimObserver::never_waited(const Operation& operation) {
  std::erase_if(in_flight_, [&](const InFlight& other) { return other.record == operation.record; });
  if (!simulation_ || std::uncaught_exceptions() > 0) return;
  simulation_->note_unless_failed(
      {check::Code::never_waited,
       fmt::format("rank {} dropped the Work of {} without wait()", rank_, party_of(operation).doing),
       {party_of(operation)}});
}

}  // namespace dist::sim
