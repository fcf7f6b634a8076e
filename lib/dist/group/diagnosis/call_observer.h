// CallObserver: notified of the calls of one rank and of what becomes of them. The trace, the mismatch check,
// the watch over dropped Works and the simulator each are one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/backend/observer.h"
#include "dist/backend/operation.h"
#include "dist/check/copies.h"
#include "dist/check/finding.h"

namespace dist {

struct FlightCall;
struct FlightLog;
class FlightRecorder;
struct GroupState;
class JobState;

// What is kept of a call while its Work exists.
struct CallNote {
  CallNote(const GroupState& group, const Operation& operation);
  std::string doing() const;  // "send #0 (4 f32)"

  OpKind kind;
  DType dtype;
  int rank;  // global
  std::int64_t count;
  std::uint64_t sequence, record;
  CallSite where;
};

// `record` is the flight recorder's number of the call. By several threads at once for different calls.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  // The call was admitted, and goes to the backend next. `async`: a Work will be waited for, and the
  // operation may get other tensors instead of the user's until it has ended.
  virtual void issued(const GroupState& group, Operation& operation, bool async) {
    (void)group, (void)operation, (void)async;
  }
  // A control call (control.h) begins.
  virtual void began(const FlightCall& call, std::uint64_t& record) { (void)call, (void)record; }
  // The operation is about to run, in this way (see OperationObserver::starting()).
  virtual void started(GroupState& group, const Operation& operation, const Plan& way) {
    (void)group, (void)operation, (void)way;
  }
  // The operation has ended.
  virtual void ended(std::uint64_t record) { (void)record; }
  // The same, with an error; then the text that the user gets, which may say what the other ranks do.
  virtual void failed(std::uint64_t record) { (void)record; }
  virtual void explained(std::uint64_t record, std::string_view error) { (void)record, (void)error; }

  // The rank waits for the Work of a call, or no longer does.
  virtual void waiting(const CallNote& call, Timeout timeout, bool yes) {
    (void)call, (void)timeout, (void)yes;
  }
  // The call's buffers are the user's again: the Work was waited for, or has been seen to be completed. Also,
  // on virtual ranks: a call that blocks has returned.
  virtual void returned(std::uint64_t record, bool with_error) { (void)record, (void)with_error; }
  // The last Work was dropped without a wait.
  virtual void dropped(const CallNote& call) { (void)call; }
};

// The observer of a rank in a simulation that checks or traces: it knows what the other ranks do.
class SimulationObserver : public CallObserver {
 public:
  // What this rank has of something that should be equal on all ranks of a group.
  virtual void has_copies(const GroupState& group, check::Copies copies) = 0;
  // Something else is wrong with the program. False: an error must say so.
  virtual bool found(check::Finding finding) = 0;
};

// The observers of one rank's calls. The code that issues a call, runs it or waits for it notifies this, and
// this each of them: first the flight recorder, which every rank has and which numbers the calls.
class CallObservers {
 public:
  explicit CallObservers(std::shared_ptr<FlightLog> log);

  // `sees_calls`: it is also notified when calls are issued, started and ended, else only of failures and of
  // Works. In the order of `place`; before the first call.
  static constexpr int last = -1;
  void subscribe(std::shared_ptr<CallObserver> observer, bool sees_calls, int place = last);

  void issued(const GroupState& group, Operation& operation, bool async);
  void began(const FlightCall& call, std::uint64_t& record);
  void started(GroupState& group, const Operation& operation, const Plan& way);
  void ended(std::uint64_t record);
  void failed(std::uint64_t record) {
    for (const auto& each : all_) each->failed(record);
  }
  void explained(std::uint64_t record, std::string_view error);
  void waiting(const CallNote& call, Timeout timeout, bool yes);
  void returned(std::uint64_t record, bool with_error) {
    for (const auto& each : all_) each->returned(record, with_error);
  }
  void dropped(const CallNote& call) {
    for (const auto& each : all_) each->dropped(call);
  }

 private:
  const std::shared_ptr<FlightLog> log_;
  FlightRecorder& recorder_;
  std::vector<std::shared_ptr<CallObserver>> all_;
  std::vector<CallObserver*> of_calls_;
};

// What a group's backend reports, passed on to the job's observers.
std::unique_ptr<OperationObserver> make_group_observer(JobState& job, GroupState& group);

}  // namespace dist
