#include "dist/group/diagnosis/call_observer.h"

#include <optional>

#include "dist/core/rank_label.h"
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

void CallObservers::subscribe(std::shared_ptr<CallObserver> observer, bool sees_calls) {
  if (sees_calls) of_calls_.push_back(observer.get());
  all_.push_back(std::move(observer));
}

std::unique_ptr<OperationObserver> make_group_observer(JobState& job, GroupState& group) {
  return std::make_unique<GroupObserver>(job, group);
}

}  // namespace dist
