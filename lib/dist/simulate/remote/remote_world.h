// RemoteWorld: the job of a rank whose simulation runs in another process.
#pragma once

#include <memory>
#include <vector>

#include "dist/group/join/virtual_world.h"
#include "dist/simulate/inspector.h"
#include "dist/simulate/remote/remote_tasking.h"
#include "dist/simulate/sim_observer.h"

namespace dist::sim {

// The simulation's first message.
struct Greeting {
  int rank = 0, ranks = 1;
  int gpus_per_node = 0;  // the topology's; 0: all ranks share a node
  bool checks = false, traces = false;
  std::size_t recorder_size = 0;
  CostModel costs;
};
Greeting greet();

class RemoteWorld final : public VirtualWorld, public Inspector {
 public:
  RemoteWorld(const Greeting& greeting, RemoteTasking& tasking);
  ~RemoteWorld() override;

  Job join(int rank) override;
  std::shared_ptr<Endpoint> endpoint(int rank) override;
  std::unique_ptr<Backend> backend(const BackendContext& context) override;
  std::shared_ptr<const Exchanged> exchange(const BoardCall& mine, std::vector<int>& missing) override;
  std::size_t recorder_size() const override { return greeting_.recorder_size; }
  CostModel costs() const override { return greeting_.costs; }
  std::shared_ptr<SimulationObserver> observer(int rank) override;

  bool checks() const override { return greeting_.checks; }
  bool traces() const override { return greeting_.traces; }
  void compare_collective(int rank, const Attendance& call) override;
  void compare_copies(int rank, GroupCopies mine) override;
  void note(check::Finding finding, Telling telling) override;
  bool lends_tensors() override;
  AccessGuard& guard() override { return tasking_.guard(); }
  void call_begins(int rank, const trace::Call& call) override;
  void call_ends(int rank, std::uint64_t record, trace::Ending ending) override;

 private:
  const Greeting greeting_;
  RemoteTasking& tasking_;
  std::shared_ptr<SimObserver> observer_;
};

}  // namespace dist::sim
