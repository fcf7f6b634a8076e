#include "dist/group/diagnosis/call_observer.h"

#include <optional>

#include "dist/core/rank_label.h"
#include "dist/group/diagnosis/flight_dump.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

class GroupObserver final : public OperationObserver {
 public:
  GroupObserver(JobState& job, GroupState& group) : job_(job), group_(group), calls_(*job.calls) {}

  void thread_started() override {
    thread_local std::optional<RankContextGuard> identity;
    identity.emplace(job_.context);
    set_current_rank_label(job_.job.rank);
  }
  void starting(const Operation& operation, const Plan& way) override {
    calls_.started(group_, operation, way);
  }
  void completed(const Operation& operation) noexcept override { calls_.ended(operation.record); }
  std::exception_ptr failed(const Operation& operation, std::exception_ptr error) noexcept override {
    return job_.note_failure(operation.record, operation.where, std::move(error));
  }

 private:
  JobState& job_;
  GroupState& group_;
  CallObservers& calls_;  // the job's; every operation needs it
};

}  // namespace

CallObservers::CallObservers(std::shared_ptr<FlightLog> log)
    : log_(std::move(log)), recorder_(log_->recorder) {}

void CallObservers::subscribe(std::shared_ptr<CallObserver> observer, bool sees_calls, int place) {
  if (sees_calls)
    of_calls_.insert(place == last ? of_calls_.end() : of_calls_.begin() + place, observer.get());
  all_.insert(place == last ? all_.end() : all_.begin() + place, std::move(observer));
}

void CallObservers::issued(const GroupState& group, Operation& operation, bool async) {
  operation.record = recorder_.issued_by([&](FlightCall& record) {
    write_down(group, operation, record);
    record.blocks = !async;
  });
  for (CallObserver* each : of_calls_) each->issued(group, operation, async);
}

void CallObservers::began(const FlightCall& call, std::uint64_t& record) {
  record = recorder_.issued(call);
  recorder_.started(record, {});
  for (CallObserver* each : of_calls_) each->began(call, record);
}

void CallObservers::started(GroupState& group, const Operation& operation, const Plan& way) {
  recorder_.started(operation.record, way.algorithm);
  for (CallObserver* each : of_calls_) each->started(group, operation, way);
}

void CallObservers::ended(std::uint64_t record) {
  recorder_.completed(record);
  for (CallObserver* each : of_calls_) each->ended(record);
}

void CallObservers::explained(std::uint64_t record, std::string_view error) {
  recorder_.failed(record, error);
  for (const auto& each : all_) each->explained(record, error);
}

void CallObservers::waiting(const CallNote& call, Timeout timeout, bool yes) {
  if (timeout == no_timeout) recorder_.waiting(call.record, yes);  // otherwise the rank will go on
  for (const auto& each : all_) each->waiting(call, timeout, yes);
}

std::unique_ptr<OperationObserver> make_group_observer(JobState& job, GroupState& group) {
  return std::make_unique<GroupObserver>(job, group);
}

}  // namespace dist
