// Joining and leaving the job: init_process_group(), destroy_process_group() and leave_job(), and what
// happens when a program ends without them: close_at_exit() says goodbye, keep_trace_and_terminate() saves
// the trace.
#include <cstdlib>
#include <exception>
#include <mutex>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/core/standard_streams.h"
#include "dist/group/call.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

// To be called after the job's end: no thread passes the gate any more.
void forget_job(RankContext& context, const JobState& job) {
  if (job.makes_on_gpu) set_default_device(cpu);
  context.default_group = {};
  context.job.reset();
}

// To be called by the thread that has the turn.
void leave_now(RankContext& context, const std::string& reason) noexcept {
  const auto job = JobState::of(context);
  if (!job) return;
  job->close(reason);
  forget_job(context, *job);
}

// A program that ends without destroy_process_group still says goodbye, so that the other ranks do not take
// it for dead. When another thread is in a call, that thread uses everything there is: nothing is freed, and
// the others see this rank die. A thread that is about to join or leave is not waited for.
void close_at_exit() {
  RankContext& context = process_rank_context();
  const auto turn = context.try_turn();
  const auto job = turn ? JobState::of(context) : nullptr;
  if (!job) return;
  constexpr Timeout patience = std::chrono::seconds(1);
  context.gate.close();
  if (job->no_thread_stays(patience)) return leave_now(context, "");
  log(LogLevel::error, "the process ends, and a thread of it {}", job->log->recorder.activity().what);
  keep_for_ever(job);
  forget_job(context, *job);
}

std::terminate_handler terminate_before = nullptr;

// An uncaught exception ends the process without exit handlers, and it is what a trace is most needed
// for.
void keep_trace_and_terminate() {
  if (const auto job = JobState::of(process_rank_context()); job && job->tracer)
    write_trace(*job->tracer, job->settings.trace_file);
  if (terminate_before) terminate_before();
  std::abort();
}

void close_at_exit_once() {
  static std::once_flag registered;
  std::call_once(registered, [] { std::atexit(&close_at_exit); });
}

void keep_trace_at_terminate_once() {
  static std::once_flag registered;
  std::call_once(registered, [] { terminate_before = std::set_terminate(&keep_trace_and_terminate); });
}

}  // namespace

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
  close_at_exit_once();
  if (has_trace) keep_trace_at_terminate_once();
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

void leave_job(RankContext& context, const std::string& reason) noexcept {
  const auto turn = context.turn();
  leave_now(context, reason);
}

}  // namespace dist
