#include "dist/group/diagnosis/group_observer.h"

#include <optional>

#include "dist/core/rank_label.h"
#include "dist/group/diagnosis/fingerprint.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

class GroupObserver final : public OperationObserver {
 public:
  GroupObserver(JobState& job, GroupState& group)
      : job_(job), group_(group), recorder_(job.log->recorder), tracer_(job.tracer.get()) {}

  void thread_started() override {
    thread_local std::optional<RankContextGuard> identity;
    identity.emplace(job_.context);
    set_current_rank_label(job_.job.rank);
  }

  void starting(const Operation& operation, const Plan& way) override {
    recorder_.started(operation.record, way.algorithm);
    if (!is_collective(operation.kind)) return;
    if (tracer_) tracer_->call_runs(operation.record, way.algorithm, way.in_shared_memory);
    if (job_.settings.debug == DebugLevel::detail) compare_fingerprints(group_, operation);
  }

  void completed(const Operation& operation) noexcept override {
    recorder_.completed(operation.record);
    if (tracer_) tracer_->call_ends(operation.record, trace::Ending::done);
  }

  std::exception_ptr failed(const Operation& operation, std::exception_ptr error) noexcept override {
    if (tracer_) tracer_->call_ends(operation.record, trace::Ending::failed);
    return job_.note_failure(operation.record, operation.where, std::move(error));
  }

 private:
  JobState& job_;
  GroupState& group_;
  // The job's; kept here because every operation needs these two.
  FlightRecorder& recorder_;
  trace::RankTracer* const tracer_;
};

}  // namespace

std::unique_ptr<OperationObserver> make_group_observer(JobState& job, GroupState& group) {
  return std::make_unique<GroupObserver>(job, group);
}

}  // namespace dist
