// One run of sim::run: the ranks' world, and what is noticed meanwhile.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dist/group/blackboard.h"
#include "dist/group/call_observer.h"
#include "dist/group/rank_context.h"
#include "dist/group/virtual_world.h"
#include "dist/launch/simulate.h"
#include "dist/sim/scheduler.h"
#include "dist/sim/transport.h"

namespace dist::sim {

class SimObserver;

class Simulation final : public VirtualWorld, private SchedulerListener, private NetworkWatcher {
 public:
  Simulation(const RunOptions& options, Topology topology);
  ~Simulation() override;
  Report run(const std::function<void(int rank)>& fn);

  Job join(int rank) override;
  std::shared_ptr<Endpoint> endpoint(int rank) override;
  Blackboard& blackboard() override { return blackboard_; }
  std::size_t recorder_size() const override;
  std::shared_ptr<CallObserver> observer(int rank) override;

  void note(check::Finding finding);  // once each
  void note_unless_failed(check::Finding finding) {
    if (report_.failures.empty() && report_.findings.empty()) note(std::move(finding));
  }
  // The ranks of a group make the same calls in the same order.
  void compare_collective(int rank, const GroupState& group, const Operation& operation);

 private:
  void run_rank(int rank, const std::function<void(int rank)>& fn);
  void stalled(const std::vector<BlockedTask>& blocked) override;
  void memory(int rank, std::ptrdiff_t change) override;
  void lost(int rank, Time at) override;
  void misfit(const NetRequest& send, const NetRequest& recv) override;
  void stranded(const NetRequest& request, int gone) override;
  check::Party party_of(const NetRequest& request) const;
  std::vector<int> waited_for(const BlockedTask& task) const;
  void look_for_unreceived();
  bool ended_well(int rank) const;

  const RunOptions options_;
  Scheduler scheduler_;
  Fabric fabric_;
  Blackboard blackboard_;
  std::vector<std::shared_ptr<SimObserver>> observers_;  // [rank]
  std::vector<std::int64_t> buffer_bytes_;               // [rank]
  std::vector<bool> ended_;                              // [rank]
  struct Collective {
    check::Party first;
    int came = 0;
  };
  // GroupState::key(), sequence.
  std::map<std::pair<std::pair<std::uint32_t, int>, std::uint64_t>, Collective> collectives_;
  std::set<std::string> noted_;
  std::ptrdiff_t first_blaming_ = 0;  // in report_.failures
  Report report_;
};

}  // namespace dist::sim
