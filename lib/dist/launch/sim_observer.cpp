#include "dist/launch/sim_observer.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "dist/group/group_state.h"
#include "dist/group/run_trace.h"
#include "dist/group/work_watch.h"

namespace dist::sim {

namespace {

// What is allocated while it lives is not the rank's.
class UncountedMemory {
 public:
  UncountedMemory() : simulated_(Tasking::exchange_current(nullptr)) {}
  ~UncountedMemory() { Tasking::exchange_current(simulated_); }
  UncountedMemory(const UncountedMemory&) = delete;
  UncountedMemory& operator=(const UncountedMemory&) = delete;

 private:
  Tasking* const simulated_;
};

}  // namespace

// Inputs are read; outputs are written (and read, where the operation works in place).
std::vector<SimObserver::Range> SimObserver::ranges_of(const Operation& operation) {
  std::vector<Range> ranges;
  const auto add = [&](const TensorList& tensors, bool written) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorView view = tensors[i];
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
  for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
    const TensorView view = operation.inputs[k];
    for (std::size_t i = 0; i < view.bytes(); ++i)
      digest = (digest ^ static_cast<std::uint64_t>(view.data[i])) * 0x100000001b3u;
  }
  return digest;
}

check::Party SimObserver::party_of(const Operation& operation) const {
  return {rank_, operation.doing(), operation.where, {}};
}

void SimObserver::issued(const GroupState& group, Operation& operation, bool async) {
  if (!inspector_) return;
  if (inspector_->checks()) check(group, operation, async);
  if (inspector_->traces()) {
    trace::Call call = call_of(group, operation, async);
    call.event.algorithm = group.backend->algorithm_for(operation);
    inspector_->call_begins(rank_, std::move(call));
  }
}

void SimObserver::check(const GroupState& group, Operation& operation, bool async) {
  if (is_collective(operation.kind))
    inspector_->compare_collective(
        rank_, {group.key(), group.size(), Fingerprint(group, operation), operation.where});
  if (!async && in_flight_.empty()) return;
  InFlight fresh{operation, ranges_of(operation)};
  const bool overlaps = overlaps_those_in_flight(fresh);
  if (!async) return;
  if (!overlaps && inspector_->lends_tensors()) fresh.loan = lend(operation);
  if (fresh.loan.closed_inputs.empty()) fresh.digest = digest_of(operation);
  in_flight_.push_back(std::move(fresh));
}

bool SimObserver::overlaps_those_in_flight(const InFlight& fresh) {
  const auto overlap = [](const Range& a, const Range& b) {
    return (a.written || b.written) && a.begin < b.end && b.begin < a.end;
  };
  for (InFlight& other : in_flight_) {
    const bool shared = std::ranges::any_of(fresh.ranges, [&](const Range& a) {
      return std::ranges::any_of(other.ranges, [&](const Range& b) { return overlap(a, b); });
    });
    if (!shared) continue;
    end_loan(other);  // the operation itself will touch it
    inspector_->note({check::Code::overlap,
                      fmt::format("rank {} starts {} on memory that {} still uses", rank_,
                                  fresh.operation.doing(), other.operation.doing()),
                      {party_of(other.operation), party_of(fresh.operation)}});
    return true;
  }
  return false;
}

SimObserver::Loan SimObserver::lend(Operation& operation) {
  Loan loan;
  const auto copies = [](TensorList& tensors) {
    std::vector<Tensor> users(tensors.owned().begin(), tensors.owned().end());
    for (std::size_t i = 0; i < users.size(); ++i) {
      {
        const UncountedMemory uncounted;
        tensors.replace(i, users[i].clone());
      }
      Tasking::current()->copied(tensors.owned()[i].raw(), users[i].raw(), users[i].nbytes());
    }
    return users;
  };
  const auto inputs = copies(operation.inputs), outputs = copies(operation.outputs);
  const auto close = [&](const std::vector<Tensor>& tensors, bool may_read, std::vector<int>& closed) {
    for (const Tensor& tensor : tensors) {
      const int number = inspector_->guard().close(tensor.raw(), tensor.nbytes(), may_read);
      if (number != AccessGuard::not_closed) closed.push_back(number);
    }
  };
  close(inputs, true, loan.closed_inputs);
  close(outputs, false, loan.closed_outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    loan.results.emplace_back(outputs[i], operation.outputs.owned()[i]);
  return loan;
}

// Opens the user's tensors again, and says what was done to them.
void SimObserver::end_loan(InFlight& flown) {
  const auto touched = [&](std::vector<int>& closed) {
    bool any = false;
    for (const int number : std::exchange(closed, {})) any = inspector_->guard().open(number) || any;
    return any;
  };
  if (touched(flown.loan.closed_inputs)) note_change(flown);
  if (touched(flown.loan.closed_outputs))
    inspector_->note({check::Code::read_before_wait,
                      fmt::format("rank {} used the tensor that {} fills before its wait()", rank_,
                                  flown.operation.doing()),
                      {party_of(flown.operation)}});
}

void SimObserver::note_change(const InFlight& flown) {
  inspector_->note(
      {check::Code::changed_before_wait,
       fmt::format("rank {} changed what {} sends before its wait()", rank_, flown.operation.doing()),
       {party_of(flown.operation)}});
}

std::optional<SimObserver::InFlight> SimObserver::take(std::uint64_t record) {
  if (!inspector_) return {};
  if (inspector_->traces()) inspector_->call_ends(rank_, record);
  const auto found =
      std::ranges::find_if(in_flight_, [&](const InFlight& f) { return f.operation.record == record; });
  if (found == in_flight_.end()) return {};
  InFlight flown = std::move(*found);
  in_flight_.erase(found);
  end_loan(flown);
  return flown;
}

void SimObserver::ended(std::uint64_t record) {
  auto flown = take(record);
  if (!flown) return;
  if (flown->digest != 0 && flown->digest != digest_of(flown->operation)) note_change(*flown);
  for (auto& [users, written] : flown->loan.results) users.copy_(written);
}

void SimObserver::failed(std::uint64_t record) { take(record); }

void SimObserver::never_waited(const CallNote& call) {
  take(call.record);
  if (!inspector_ || !inspector_->checks() || std::uncaught_exceptions() > 0) return;
  inspector_->note(dropped_work(call), Telling::unless_failed);
}

bool SimObserver::found(check::Finding finding) {
  if (inspector_) inspector_->note(std::move(finding), Telling::together);
  return inspector_ != nullptr;
}

}  // namespace dist::sim
