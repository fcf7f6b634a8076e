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
  SimObserver(Simulation& simulation, int rank) : simulation_(&simulation), rank_(rank) {}
  void forget() { simulation_ = nullptr; }

  void issued(const GroupState& group, const Operation& operation, bool async) override;
  void ended(const Operation& operation) override;
  void never_waited(const Operation& operation) override;

 private:
  struct Range {
    const std::byte *begin, *end;
    bool written;  // by the operation
  };
  struct InFlight {
    std::uint64_t record;
    check::Party party;
    std::vector<Range> ranges;
    std::uint64_t digest;
  };
  static std::vector<Range> ranges_of(const Operation& operation);
  static std::uint64_t digest_of(const Operation& operation);
  check::Party party_of(const Operation& operation) const;
  void compare_with_those_in_flight(const InFlight& fresh);

  Simulation* simulation_;
  const int rank_;
  std::vector<InFlight> in_flight_;
};

}  // namespace dist::sim
