// Joining and leaving the job. What happens when a program ends without destroy_process_group() is in
// at_exit.h.
#include <exception>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/core/standard_streams.h"
#include "dist/group/call.h"
#include "dist/group/job_state.h"
#include "dist/group/join/at_exit.h"

namespace dist {

void init_process_group(const InitOptions& options, Caller at) {
  open_standard_streams();  // before a socket takes the number of one
  RankContext& context = rank_context();
  const auto turn = context.turn();
  if (const auto job = JobState::of(context)) {
    fail(Errc::invalid_argument,
         "rank {}: init_process_group at {}: this rank is in a job already; call destroy_process_group first",
         job->job.rank, at.str());
  }
  auto job = std::make_shared<JobState>(options, context, at);
  const bool has_trace = job->tracer != nullptr;
  context.default_group = ProcessGroup(job->groups[0]);
  if (job->makes_on_gpu) set_default_device(job->device());
  context.job = std::move(job);
  context.gate.open();
  // Registered after everything that init makes, because handlers run before what was made earlier is
  // destroyed.
  if (&context != &process_rank_context()) return;
  leave_at_exit(has_trace);
}

void destroy_process_group(const ProcessGroup& group, Caller at) {
  RankContext& context = rank_context();
  const bool unwinding = std::uncaught_exceptions() > 0;
  const auto turn = context.turn();
  if (group && group.state() != context.default_group.state()) {
    if (unwinding) return;  // the default group will be left, which ends this group too
    // The job stays, because this thread has the turn.
    JobState* const job = GroupInUse(group, "destroy_process_group", at)->job;
    job->remove_group(*group.state());
    return;
  }
  const auto job = JobState::of(context);
  if (!job) {
    if (unwinding) return;
    fail_without_group("destroy_process_group", at);
  }
  if (unwinding) return leave_now(context, "an exception");
  job->finish();
  forget_job(context, *job);
  set_current_rank_label(-1);
}

}  // namespace dist