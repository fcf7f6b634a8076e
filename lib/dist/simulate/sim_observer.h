// Observes the calls of one simulated rank, and what the program does to their tensors until they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dist/group/diagnosis/call_observer.h"
#include "dist/simulate/inspector.h"

namespace dist::sim {

class SimObserver final : public SimulationObserver {
 public:
  SimObserver(Inspector& inspector, int rank) : inspector_(&inspector), rank_(rank) {}
  void forget() { inspector_ = nullptr; }  // the inspector is gone

  void issued(const GroupState& group, Operation& operation, bool async) override;
  void returned(std::uint64_t record, bool with_error) override;
  void dropped(const CallNote& call) override;
  void has_copies(const GroupState& group, check::Copies copies) override;
  bool found(check::Finding finding) override;

 private:
  void check(const GroupState& group, Operation& operation, bool async);
  // The memory of an operation.
  struct Range {
    std::uint64_t record;
    const std::byte *begin, *end;
    bool written;
    bool in_place = false;  // an input that the operation itself writes
  };
  // While the network works on copies, the user's tensors are closed (sim/access_guard.h).
  struct Loan {
    std::vector<Tensor> inputs;                      // the user's
    std::vector<std::pair<Tensor, Tensor>> results;  // the user's, and the one that is written instead
    std::vector<int> closed_inputs, closed_outputs;
  };
  // An operation that its Work keeps alive.
  struct InFlight {
    CallNote call;
    std::uint64_t digest = 0;  // digest of what is sent; 0: the memory is guarded instead
    std::unique_ptr<Loan> loan = nullptr;
  };
  void list_ranges(const Operation& operation, int group_rank);
  std::uint64_t digest_of(std::uint64_t record, bool on_loan) const;
  check::Party party_of(const CallNote& call) const;
  // Whether its ranges, those from `first` on, share memory with others, where at least one side writes.
  bool overlaps_those_in_flight(const CallNote& fresh, std::size_t first);
  InFlight& in_flight(std::uint64_t record);
  std::unique_ptr<Loan> lend(Operation& operation);
  void end_loan(InFlight& flown);
  void note_change(const CallNote& call);
  std::optional<InFlight> take(std::uint64_t record, trace::Ending ending);
  void forget_ranges(std::uint64_t record);

  Inspector* inspector_;
  const int rank_;
  std::vector<InFlight> in_flight_;
  std::vector<Range> ranges_;  // those of the operations in flight, in order
};

}  // namespace dist::sim
