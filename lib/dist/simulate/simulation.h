// One run of sim::run: the world of the ranks, and what is noticed during the run.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/join/blackboard.h"
#include "dist/group/join/virtual_world.h"
#include "dist/group/rank_context.h"
#include "dist/sim/choices.h"
#include "dist/sim/globals.h"
#include "dist/sim/scheduler.h"
#include "dist/sim/tracer.h"
#include "dist/sim/transport.h"
#include "dist/simulate/inspector.h"
#include "dist/simulate/simulate.h"

namespace dist::sim {

class SimObserver;

class Simulation final : public VirtualWorld,
                         public Inspector,
                         private SchedulerListener,
                         private NetworkWatcher {
 public:
  Simulation(const RunOptions& options, Topology topology, Choices* choices);
  ~Simulation() override;
  Report run(const std::function<void(int rank)>& fn);

  int ranks() const { return options_.ranks; }
  std::uint64_t kept_bytes(int rank) const { return scheduler_.network().kept_bytes(rank); }
  int gpus_per_node() const { return scheduler_.network().topology().gpus_per_node; }
  // A rank's tensors grow or shrink. Throws Error{resource} beyond this machine's memory.
  void memory(int rank, std::ptrdiff_t change) override;

  Job join(int rank) override;
  std::shared_ptr<Endpoint> endpoint(int rank) override;
  std::shared_ptr<const Exchanged> exchange(const BoardCall& mine, std::vector<int>& missing) override {
    return blackboard_.exchange(mine, missing);
  }
  std::size_t recorder_size() const override;
  CostModel costs() const override { return costs_; }
  std::shared_ptr<SimulationObserver> observer(int rank) override;

  AccessGuard& guard() override { return scheduler_.guard(); }
  bool checks() const override { return options_.check; }
  bool traces() const override { return tracer_.has_value(); }
  void compare_collective(int rank, const Attendance& call) override;
  void compare_copies(int rank, GroupCopies mine) override;
  void note(check::Finding finding, Telling telling = Telling::always) override;
  void name_group(std::uint32_t context, const std::string& name) override;
  bool lends_tensors() override;
  void call_begins(int rank, const trace::Call& call) override;
  void call_ends(int rank, std::uint64_t record, trace::Ending ending) override;

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  void run_rank(int rank, const std::function<void(int rank)>& fn);
  void stalled(const std::vector<BlockedTask>& blocked) override;
  void peak_restarts(int rank) override;
  void lost(int rank, Time at) override;
  void written(const NetRequest& recv) override;
  void misfit(const NetRequest& send, const NetRequest& recv) override;
  void stranded(const NetRequest& request, int gone) override;
  check::Party party_of(const NetRequest& request) const;
  void add_path(check::Party& party, const NetRequest& request) const;
  std::vector<int> waited_for(const BlockedTask& task) const;
  void look_for_unreceived();
  void note_together(check::Finding finding);
  bool ended_well(int rank) const;
  void gives_up(int rank, const std::string& reason);

  const RunOptions options_;
  Choices* const choices_;  // null: the ordinary schedule
  const CostModel costs_;
  Scheduler scheduler_;
  Fabric fabric_;
  std::optional<Tracer> tracer_;
  std::optional<Globals> globals_;
  Blackboard blackboard_;
  std::vector<std::shared_ptr<SimObserver>> observers_;  // [rank]
  std::vector<std::int64_t> buffer_bytes_;               // [rank]
  std::int64_t all_buffer_bytes_ = 0;
  std::vector<bool> ended_;  // [rank]
  std::set<int> given_up_;   // and have not joined again
  struct Collective {
    Fingerprint first;
    int rank;
    CallSite where;
    int came = 0;
    int finding = -1;  // the index of this collective's finding in the report
  };
  // The key is GroupState::key() and the sequence number.
  std::map<std::pair<std::pair<std::uint32_t, int>, std::uint64_t>, Collective> collectives_;
  // What ranks have passed, in order; the key is GroupState::key() and what they compare.
  std::map<std::pair<std::pair<std::uint32_t, int>, std::string>, std::map<int, std::deque<check::Copies>>>
      copies_;
  std::map<std::uint32_t, std::string> group_names_;  // by context number
  std::set<std::string> noted_;
  std::ptrdiff_t first_blaming_ = 0;  // the index in report_.failures of the first that blames others
  Report report_;
};

// sim::run with a schedule; null: the ordinary one.
Report simulate(const RunOptions& options, const std::function<void(int rank)>& fn, Choices* choices);

}  // namespace dist::sim
