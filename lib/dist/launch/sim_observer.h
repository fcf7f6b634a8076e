// Looks at the calls of one simulated rank, and at what the program does to their tensors meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dist/group/call_observer.h"
#include "dist/launch/inspector.h"

namespace dist::sim {

class SimObserver final : public CallObserver {
 public:
  SimObserver(Inspector& inspector, int rank) : CallObserver(true), inspector_(&inspector), rank_(rank) {}
  void forget() { inspector_ = nullptr; }  // it has gone

  void issued(const GroupState& group, Operation& operation, bool async) override;
  void ended(std::uint64_t record) override;
  void failed(std::uint64_t record) override;
  void never_waited(const CallNote& call) override;
  bool found(check::Finding finding) override;

 private:
  void check(const GroupState& group, Operation& operation, bool async);
  struct Range {
    const std::byte *begin, *end;
    bool written;  // by the operation
  };
  // The network works on copies meanwhile, and the user's tensors are closed (sim/access_guard.h).
  struct Loan {
    std::vector<int> closed_inputs, closed_outputs;
    std::vector<std::pair<Tensor, Tensor>> results;  // the user's, and what is written instead
  };
  struct InFlight {
    Operation operation;  // with the user's tensors
    std::vector<Range> ranges;
    std::uint64_t digest = 0;  // of what is sent; 0: it is watched
    Loan loan = {};
  };
  static std::vector<Range> ranges_of(const Operation& operation);
  static std::uint64_t digest_of(const Operation& operation);
  check::Party party_of(const Operation& operation) const;
  // Whether it shares memory with one of them, at least one writing.
  bool overlaps_those_in_flight(const InFlight& fresh);
  Loan lend(Operation& operation);
  void end_loan(InFlight& flown);
  void note_change(const InFlight& flown);
  std::optional<InFlight> take(std::uint64_t record);

  Inspector* inspector_;
  const int rank_;
  std::vector<InFlight> in_flight_;
};

}  // namespace dist::sim
