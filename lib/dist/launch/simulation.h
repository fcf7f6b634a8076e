// One run of sim::run: the ranks' world, and what is noticed meanwhile.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dist/group/blackboard.h"
#include "dist/group/call_observer.h"
#include "dist/group/fingerprint.h"
#include "dist/group/rank_context.h"
#include "dist/group/virtual_world.h"
#include "dist/launch/simulate.h"
#include "dist/sim/choices.h"
#include "dist/sim/scheduler.h"
#include "dist/sim/tracer.h"
#include "dist/sim/transport.h"

namespace dist::sim {

class SimObserver;

class Simulation final : public VirtualWorld, private SchedulerListener, private NetworkWatcher {
 public:
  Simulation(const RunOptions& options, Topology topology, Choices* choices);
  ~Simulation() override;
  Report run(const std::function<void(int rank)>& fn);

  Job join(int rank) override;
  std::shared_ptr<Endpoint> endpoint(int rank) override;
  Blackboard& blackboard() override { return blackboard_; }
  std::size_t recorder_size() const override;
  std::shared_ptr<CallObserver> observer(int rank) override;

  AccessGuard& guard() { return scheduler_.guard(); }
  bool checks() const { return options_.check; }
  // For the trace.
  void call_begins(int rank, const GroupState& group, const Operation& operation, bool async);
  void call_ends(int rank, std::uint64_t record);
  bool lends_tensors();               // whether the network works on copies this time
  void note(check::Finding finding);  // once each
  // Findings that say the same of several ranks become one.
  void note_together(check::Finding finding);
  // What may follow from a failure, or from something else that was found, is not told.
  void note_unless_failed(check::Finding finding);
  // The ranks of a group make the same calls in the same order.
  void compare_collective(int rank, const GroupState& group, const Operation& operation);

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
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
  void gives_up(int rank, const std::string& reason);

  const RunOptions options_;
  Choices* const choices_;  // null: the ordinary schedule
  Scheduler scheduler_;
  Fabric fabric_;
  std::optional<Tracer> tracer_;
  Blackboard blackboard_;
  std::vector<std::shared_ptr<SimObserver>> observers_;  // [rank]
  std::vector<std::int64_t> buffer_bytes_;               // [rank]
  std::int64_t all_buffer_bytes_ = 0;
  std::vector<bool> ended_;  // [rank]
  std::set<int> given_up_;   // and not joined again
  struct Collective {
    Fingerprint first;
    int rank;
    CallSite where;
    int came = 0;
    int finding = -1;  // in the report, of this collective
  };
  // GroupState::key(), sequence.
  std::map<std::pair<std::pair<std::uint32_t, int>, std::uint64_t>, Collective> collectives_;
  std::set<std::string> noted_;
  std::ptrdiff_t first_blaming_ = 0;  // in report_.failures
  Report report_;
};

// sim::run with a schedule; null for the ordinary one.
Report simulate(const RunOptions& options, const std::function<void(int rank)>& fn, Choices* choices);

}  // namespace dist::sim
