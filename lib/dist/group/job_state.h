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
#include "dist/group/group_state.h"
#include "dist/group/rank_context.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/join/settings.h"
#include "dist/group/diagnosis/stall_look.h"
#include "dist/group/diagnosis/watchdog.h"
#include "dist/trace/rank_tracer.h"
#include "dist/transport/endpoint.h"

namespace dist {

class WorkWatch;

// The backend that a program names, as it runs here.
struct ResolvedBackend {
  std::string name;   // "host"; "sim" for virtual ranks, whatever they name
  std::string asked;  // what virtual ranks named, "auto" apart
};
ResolvedBackend resolve_backend(const std::string& named, const RankContext& context);

// Never freed: somebody may still use it. Thread-safe.
void keep_for_ever(std::shared_ptr<void> thing);

class JobState : public std::enable_shared_from_this<JobState> {
 public:
  // Joins: blocks until all ranks have done so. Afterwards groups[0] is the default group.
  JobState(const InitOptions& options, RankContext& context, CallSite where);
  ~JobState();  // as close(), when neither finish() nor close() was called
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // Of the context, null when it is in no job (a job that a forked child inherited is none of its own).
  static std::shared_ptr<JobState> of(RankContext& context);

  // Waits for what is pending on all groups, then leaves. Where other threads of this rank stand in calls, it
  // waits for them for some seconds, but not for their receives: what is left ends with Error{aborted}.
  void finish();
  // Leaves at once: pending operations of this rank end with Error{aborted}. With a reason the others'
  // operations fail and quote it; without one only what still needs this rank does.
  void close(const std::string& reason) noexcept;

  // Whether no other thread of this rank stands in such a call, after that time at most.
  bool no_thread_stays(
      Timeout patience,
      const std::function<bool(const FlightRecord&)>& in = [](const FlightRecord&) { return true; });

  // Makes this rank's part of a group, backend included when it is a member.
  // `split_off`: BackendContext's.
  std::shared_ptr<GroupState> add_group(GroupState::Identity identity, std::shared_ptr<void> split_off);
  // Waits for what is pending on it, and forgets it. Error{invalid_argument} where another thread stays in a
  // call of it.
  void remove_group(GroupState& group);

  // What becomes of a failed operation: it is written down and dumped, and a timeout gets the other ranks'
  // state added, and a finding where the ranks' states make one (a second at most). Returns the error that
  // the user gets.
  std::exception_ptr note_failure(std::uint64_t record, CallSite where, std::exception_ptr error) noexcept;

  // Where this rank's tensors go if nobody says otherwise.
  Device device() const;

  // Gives a finding to the observer. Where that does not take it, an error does: returns what to add to its
  // text, "; D9 group used wrongly: ...".
  std::string tell(check::Finding finding);

  const CallSite joined_at;  // the call of init_process_group
  Settings settings;
  Job job;
  std::shared_ptr<FlightLog> log;
  std::shared_ptr<Endpoint> endpoint;
  std::unique_ptr<Watchdog> watchdog;
  RankContext& context;
  std::shared_ptr<CallObserver> observer;
  std::shared_ptr<trace::RankTracer> tracer;        // null: no trace is kept, or the simulator keeps it
  CostModel costs;                                  // rank 0's, so that all choose alike
  std::vector<std::shared_ptr<GroupState>> groups;  // changed under groups_mutex_
  bool makes_on_gpu = false;       // DIST_DEVICE asks for tensors on GPUs, and the default group takes them
  std::uint32_t next_context = 1;  // see agree_on_context()

 private:
  void join(const InitOptions& options);  // with processes and threads
  void join_virtually(const InitOptions& options);
  void connect();
  int nodes_of(const Members& members) const;
  bool sends_by_tcp() const;     // some of its messages
  CostModel costs_here() const;  // as this machine knows them
  void agree_with_others(GroupState& world);
  std::shared_ptr<GroupState> make_group(GroupState::Identity identity);  // without its backend
  void give_backend(GroupState& group, std::shared_ptr<void> split_off);
  // No call of any group begins any more. Returns the groups.
  std::vector<std::shared_ptr<GroupState>> close_gates();
  bool are_empty(const std::vector<Gate*>& gates, Deadline deadline) const;  // by then
  std::string ask_others(std::uint64_t record, const Error& error);
  void note_who_stands();  // of other threads
  void leave_store(Deadline deadline) noexcept;
  void leave_with(const std::string& reason, Deadline deadline) noexcept;

  std::shared_ptr<WorkWatch> work_watch_;  // the observer of a real rank
  std::unique_ptr<SignalDump> signal_dump_;
  std::unique_ptr<StallLook> stall_look_;       // null: nobody asked for it
  const std::uint32_t forks_ = forks_before();  // when it was made
  std::mutex groups_mutex_;  // of `groups` and the next: a thread may make a group while another leaves
  bool leaving_ = false;
  bool left_ = false;
  bool others_stood_ = false;  // other threads were in calls: nobody knows when they have let go of all this
};

}  // namespace dist
