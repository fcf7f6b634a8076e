// What init_process_group makes and destroy_process_group ends: this rank's part in the job.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dist/collectives/cost/cost_model.h"
#include "dist/core/error.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/diagnosis/flight_dump.h"
#include "dist/group/diagnosis/stall_look.h"
#include "dist/group/diagnosis/watchdog.h"
#include "dist/group/group_state.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/join/settings.h"
#include "dist/group/rank_context.h"
#include "dist/trace/rank_tracer.h"
#include "dist/transport/endpoint.h"

namespace dist {

class WorkWatch;

// The backend that a program names, in the form in which it runs here.
struct ResolvedBackend {
  std::string name;   // "host"; "sim" for virtual ranks, whatever they name
  std::string asked;  // the backend that virtual ranks named; empty for "auto"
};
ResolvedBackend resolve_backend(const std::string& named, const RankContext& context);

// Keeps a thing that another thread may still use: it is never freed. Thread-safe.
void keep_for_ever(std::shared_ptr<void> thing);

class JobState;
// To be called after the job's end by the thread that has the turn: no thread passes the gate any more.
void forget_job(RankContext& context, const JobState& job);

class JobState : public std::enable_shared_from_this<JobState> {
 public:
  // Joins: blocks until all ranks have done so. Afterwards groups[0] is the default group.
  JobState(const InitOptions& options, RankContext& context, CallSite where);
  ~JobState();  // does the same as close() if neither finish() nor close() was called
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // The job of this context; null when it has none. (A job that a forked child inherited does not count.)
  static std::shared_ptr<JobState> of(RankContext& context);

  // Waits for everything pending on all groups, then leaves. Where other threads of this rank are in calls,
  // it waits for them for some seconds, but not for their receives: what remains ends with Error{aborted}.
  void finish();
  // Leaves at once: pending operations of this rank end with Error{aborted}. With a reason, the other ranks'
  // operations fail and quote it; without one, only those fail that still need this rank.
  void close(const std::string& reason) noexcept;

  // Waits until no other thread of this rank is in such a call, at most `patience`; returns whether that is
  // so.
  bool no_thread_stays(
      Timeout patience,
      const std::function<bool(const FlightRecord&)>& in = [](const FlightRecord&) { return true; });

  // Makes this rank's part of a group, including its backend when this rank is a member.
  // `split_off`: see BackendContext.
  std::shared_ptr<GroupState> add_group(GroupState::Identity identity, std::shared_ptr<void> split_off);
  // Waits for what is pending on the group, and forgets it. Error{invalid_argument} where another thread
  // stays in a call of it.
  void remove_group(GroupState& group);

  // Handles a failed operation: the observers are notified, it is dumped, and a timeout gets the other ranks'
  // state added, and a finding where that state proves one (this takes at most a second). Returns the error
  // that the user gets.
  std::exception_ptr note_failure(std::uint64_t record, CallSite where, std::exception_ptr error) noexcept;

  // Where this rank's tensors go by default.
  Device device() const;

  // Passes a finding to the simulation. Where that does not take it, an error must: returns what to add to
  // the error's text, "; D9 group used wrongly: ...".
  std::string tell(check::Finding finding);

  const CallSite joined_at;  // the call of init_process_group
  Settings settings;
  Job job;
  std::shared_ptr<FlightLog> log;
  std::shared_ptr<Endpoint> endpoint;
  std::unique_ptr<Watchdog> watchdog;
  RankContext& context;
  std::shared_ptr<CallObservers> calls;             // notified of every call
  std::shared_ptr<SimulationObserver> simulation;   // one of them; null: no simulation, or it only runs
  std::shared_ptr<trace::RankTracer> tracer;        // null: no trace is kept, or the simulator keeps it
  CostModel costs;                                  // rank 0's, so that all ranks make the same choices
  std::vector<std::shared_ptr<GroupState>> groups;  // changed under groups_mutex_
  bool makes_on_gpu = false;       // DIST_DEVICE asks for tensors on GPUs, and the default group takes them
  std::uint32_t next_context = 1;  // see agree_on_context()

 private:
  void join(const InitOptions& options);  // with processes and threads
  void join_virtually(const InitOptions& options);
  void connect();
  void subscribe_observers();  // to `calls`
  void check_mismatches();     // where a rank asks for it with DIST_DEBUG=detail
  void start_diagnosis();      // the trace, the watchdog, and the look for stalls
  int nodes_of(const Members& members) const;
  CostModel costs_here() const;  // this machine's figures
  void agree_with_others(GroupState& world);
  std::shared_ptr<GroupState> make_group(GroupState::Identity identity);  // without a backend
  void give_backend(GroupState& group, std::shared_ptr<void> split_off);
  // Closes the groups' gates: no call of any group begins any more. Returns the groups.
  std::vector<std::shared_ptr<GroupState>> close_gates();
  bool are_empty(const std::vector<Gate*>& gates, Deadline deadline) const;  // before the deadline
  std::string ask_others(std::uint64_t record, const Error& error);
  void note_who_stands();  // for other threads
  void leave_store(Deadline deadline) noexcept;
  void leave_with(const std::string& reason, Deadline deadline) noexcept;

  std::shared_ptr<WorkWatch> work_watch_;  // null in a simulation that checks
  std::unique_ptr<SignalDump> signal_dump_;
  std::unique_ptr<StallLook> stall_look_;       // null: it is not wanted
  const std::uint32_t forks_ = forks_before();  // forks_before() when it was made
  std::mutex groups_mutex_;  // guards `groups` and the next: a thread may make a group while another leaves
  bool leaving_ = false;
  bool left_ = false;
  bool others_stood_ = false;  // other threads were in calls, and may still use all this
};

}  // namespace dist
