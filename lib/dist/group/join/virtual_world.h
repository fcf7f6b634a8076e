// VirtualWorld: the job of ranks that are neither processes nor threads. The simulator provides it; a rank
// whose context has one meets the others here instead of through a store and sockets. That world may be in
// this process, or at the other end of a socket (simulate/remote/).
#pragma once

#include <cstddef>
#include <memory>

#include "dist/backend/backend.h"
#include "dist/collectives/cost/cost_model.h"
#include "dist/group/control.h"
#include "dist/group/join/rendezvous.h"
#include "dist/transport/endpoint.h"

namespace dist {

class SimulationObserver;

// A control call of one rank.
struct BoardCall {
  std::uint32_t context = 0;  // the group's number
  Members members;
  int rank = 0;  // the rank that calls, global
  std::uint64_t tag = 0;
  Deadline deadline = Deadline::never();
  ControlMessage message = {};
};

class VirtualWorld {
 public:
  virtual ~VirtualWorld() = default;
  virtual Job join(int rank) = 0;
  virtual std::shared_ptr<Endpoint> endpoint(int rank) = 0;
  // The backend that runs a group's operations; null: the one that the group names.
  virtual std::unique_ptr<Backend> backend(const BackendContext&) { return nullptr; }
  // Passes on this rank's message and waits for those of all members. Null when the deadline passed first;
  // `missing` then has the group ranks that did not come.
  virtual std::shared_ptr<const Exchanged> exchange(const BoardCall& mine, std::vector<int>& missing) = 0;
  virtual std::size_t recorder_size() const = 0;                       // how many operations a rank remembers
  virtual CostModel costs() const = 0;                                 // all ranks choose algorithms by them
  virtual std::shared_ptr<SimulationObserver> observer(int rank) = 0;  // may be null
};

// To be called by a rank that is real and was not started by spawn(). Error{invalid_argument}: DIST_SIM asks
// for virtual ones.
void refuse_simulation(CallSite where);

}  // namespace dist
