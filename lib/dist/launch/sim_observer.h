// What a simulated rank's calls tell the simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dist/group/call_observer.h"
#include "dist/launch/simulation.h"

namespace dist::sim {

class SimObserver final : public CallObserver {
 public:
  SimObserver(Simulation& simulation, int rank) : CallObserver(true), simulation_(&simulation), rank_(rank) {}
  void forget() { simulation_ = nullptr; }

  void issued(const GroupState& group, const Operation& operation, bool async) override;
  void ended(std::uint64_t record) override;
  void never_waited(const CallNote& call) override;
  bool found(check::Finding finding) override;

 private:
  struct Range {
    const std::byte *begin, *end;
    bool written;  // by the operation
  };
  struct InFlight {
    Operation operation;
    std::vector<Range> ranges;
    std::uint64_t digest;
  };
  static std::vector<Range> ranges_of(const Operation& operation);
  static std::uint64_t digest_of(const Operation& operation);
  check::Party party_of(const Operation& operation) const;
  void compare_with_those_in_flight(const InFlight& fresh);
  std::vector<InFlight>::iterator find(std::uint64_t record);

  Simulation* simulation_;
  const int rank_;
  std::vector<InFlight> in_flight_;
};

}  // namespace dist::sim
