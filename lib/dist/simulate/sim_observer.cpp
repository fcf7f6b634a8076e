// SimObserver: what it checks when an operation is issued (overlap with those in flight, a digest of what is
// sent, a loan of the user's tensors) and when it returns or is dropped. Findings go to the
// Inspector.
#include "dist/simulate/sim_observer.h"

#include <algorithm>
#include <exception>
#include <span>

#include <fmt/format.h>

#include "dist/core/tasking.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/diagnosis/work_watch.h"
#include "dist/group/group_state.h"

namespace dist::sim {

namespace {

// Memory that is allocated while this lives does not count as the rank's.
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

// Inputs are read; outputs are written (and read, if the operation works in place). Only this rank's own part
// of the inputs may also be an output (group/validate.h).
void SimObserver::list_ranges(const Operation& operation, int group_rank) {
  const auto own = [&](const TensorList& tensors) -> const std::byte* {
    if (tensors.empty()) return nullptr;
    return tensors[tensors.size() == 1 ? 0 : static_cast<std::size_t>(group_rank)].data;
  };
  const std::byte* const in_place =
      own(operation.inputs) == own(operation.outputs) ? own(operation.inputs) : nullptr;
  const auto list = [&](const TensorList& tensors, bool written) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorView view = tensors[i];
      if (view.count == 0) continue;
      const bool overwritten = !written && view.data == in_place;
      ranges_.push_back({operation.record, view.data, view.data + view.bytes(), written, overwritten});
    }
  };
  list(operation.inputs, false);
  list(operation.outputs, true);
}

void SimObserver::forget_ranges(std::uint64_t record) {
  std::erase_if(ranges_, [&](const Range& range) { return range.record == record; });
}

// A digest of what is sent (FNV-1a). What the operation itself overwrites counts only if the operation works
// on copies.
std::uint64_t SimObserver::digest_of(std::uint64_t record, bool on_loan) const {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const Range& range : ranges_) {
    if (range.record != record || range.written || (range.in_place && !on_loan)) continue;
    for (const std::byte* at = range.begin; at != range.end; ++at)
      digest = (digest ^ static_cast<std::uint64_t>(*at)) * 0x100000001b3u;
  }
  return digest;
}

check::Party SimObserver::party_of(const CallNote& call) const {
  return {rank_, call.doing(), call.where, {}};
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
  else if (group.identity.context != 0)
    inspector_->name_group(group.identity.context, group.identity.name);
  if (!async && in_flight_.empty()) return;
  const std::size_t first = ranges_.size();
  list_ranges(operation, group.rank);
  const CallNote call(group, operation);
  const bool overlaps = overlaps_those_in_flight(call, first);
  if (!async) return forget_ranges(operation.record);
  InFlight fresh{call};
  if (!overlaps && inspector_->lends_tensors()) fresh.loan = lend(operation);
  if (!fresh.loan || fresh.loan->closed_inputs.empty())
    fresh.digest = digest_of(operation.record, fresh.loan != nullptr);
  in_flight_.push_back(std::move(fresh));
}

bool SimObserver::overlaps_those_in_flight(const CallNote& fresh, std::size_t first) {
  const std::span all(ranges_), mine = all.subspan(first);
  for (const Range& range : all.first(first)) {
    const auto overlaps = [&](const Range& a) {
      return (a.written || range.written) && a.begin < range.end && range.begin < a.end;
    };
    if (std::ranges::none_of(mine, overlaps)) continue;
    InFlight& other = in_flight(range.record);
    end_loan(other);  // the operation itself will touch it
    inspector_->note({check::Code::overlap,
                      fmt::format("rank {} starts {} on memory that {} still uses", rank_, fresh.doing(),
                                  other.call.doing()),
                      {party_of(other.call), party_of(fresh)}});
    return true;
  }
  return false;
}

std::unique_ptr<SimObserver::Loan> SimObserver::lend(Operation& operation) {
  auto loan = std::make_unique<Loan>();
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
  loan->inputs = copies(operation.inputs);
  const auto outputs = copies(operation.outputs);
  const auto close = [&](const std::vector<Tensor>& tensors, bool may_read, std::vector<int>& closed) {
    for (const Tensor& tensor : tensors) {
      const int number = inspector_->guard().close(tensor.raw(), tensor.nbytes(), may_read);
      if (number != AccessGuard::not_closed) closed.push_back(number);
    }
  };
  close(loan->inputs, true, loan->closed_inputs);
  close(outputs, false, loan->closed_outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    loan->results.emplace_back(outputs[i], operation.outputs.owned()[i]);
  return loan;
}

// Opens the user's tensors again, and reports what was done to them.
void SimObserver::end_loan(InFlight& flown) {
  if (!flown.loan) return;
  const auto touched = [&](std::vector<int>& closed) {
    bool any = false;
    for (const int number : std::exchange(closed, {})) any = inspector_->guard().open(number) || any;
    return any;
  };
  if (touched(flown.loan->closed_inputs)) note_change(flown.call);
  if (touched(flown.loan->closed_outputs))
    inspector_->note(
        {check::Code::read_before_wait,
         fmt::format("rank {} used the tensor that {} fills before its wait()", rank_, flown.call.doing()),
         {party_of(flown.call)}});
}

void SimObserver::note_change(const CallNote& call) {
  inspector_->note({check::Code::changed_before_wait,
                    fmt::format("rank {} changed what {} sends before its wait()", rank_, call.doing()),
                    {party_of(call)}});
}

SimObserver::InFlight& SimObserver::in_flight(std::uint64_t record) {
  return *std::ranges::find_if(in_flight_, [&](const InFlight& f) { return f.call.record == record; });
}

std::optional<SimObserver::InFlight> SimObserver::take(std::uint64_t record, trace::Ending ending) {
  if (!inspector_) return {};
  if (inspector_->traces()) inspector_->call_ends(rank_, record, ending);
  const auto found =
      std::ranges::find_if(in_flight_, [&](const InFlight& f) { return f.call.record == record; });
  if (found == in_flight_.end()) return {};
  InFlight flown = std::move(*found);
  in_flight_.erase(found);
  end_loan(flown);
  return flown;
}

void SimObserver::returned(std::uint64_t record, bool with_error) {
  auto flown = take(record, with_error ? trace::Ending::failed : trace::Ending::done);
  if (!flown) return;
  if (with_error) return forget_ranges(record);
  if (flown->digest != 0 && flown->digest != digest_of(record, flown->loan != nullptr))
    note_change(flown->call);
  forget_ranges(record);
  if (!flown->loan) return;
  for (auto& [users, written] : flown->loan->results) users.copy_(written);
}

void SimObserver::dropped(const CallNote& call) {
  if (take(call.record, trace::Ending::cut_off)) forget_ranges(call.record);
  if (!inspector_ || !inspector_->checks() || std::uncaught_exceptions() > 0) return;
  inspector_->note(dropped_work(call), Telling::unless_failed);
}

void SimObserver::has_copies(const GroupState& group, check::Copies copies) {
  if (inspector_ && inspector_->checks())
    inspector_->compare_copies(rank_, {group.key(), group.size(), std::move(copies)});
}

bool SimObserver::found(check::Finding finding) {
  if (inspector_) inspector_->note(std::move(finding), Telling::together);
  return inspector_ != nullptr;
}

}  // namespace dist::sim
