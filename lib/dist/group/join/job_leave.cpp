// How a rank leaves its job. destroy_process_group() does so by finish(), which waits for everything; close()
// waits for nothing. Both close the groups' gates, so that no call begins, then end the diagnosis threads,
// say goodbye and leave the store (leave_with). Where another thread is still in a call, what it uses is kept
// forever (other_threads.cpp).
#include <exception>

#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/group/call.h"
#include "dist/group/diagnosis/bounded.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/diagnosis/work_watch.h"
#include "dist/group/job_state.h"
#include "dist/group/join/at_exit.h"

namespace dist {
namespace {

// How long a rank that leaves after a failure keeps the store for the others, and waits for its own threads.
constexpr Timeout hasty_patience = std::chrono::seconds(1);

bool is_no_receive(const FlightRecord& call) { return call.operation != name(OpKind::recv); }

}  // namespace

std::vector<std::shared_ptr<GroupState>> JobState::close_gates() {
  context.gate.close();
  const std::lock_guard lock(groups_mutex_);
  leaving_ = true;
  for (const auto& group : groups) group->gate.close();
  return groups;
}

JobState::~JobState() {
  if (!left_) close("");
}

void JobState::finish() {
  const auto ending = close_gates();
  for (auto group = ending.rbegin(); group != ending.rend(); ++group) (*group)->finish_pending();
  no_thread_stays(leave_patience, is_no_receive);
  if (!context.virtual_world) {
    note_who_stands();  // it ends now, and its thread goes on using what is here
    endpoint->abort("this rank is leaving the job");
  }
  leave_with("", Deadline::after(leave_patience));
}

void JobState::close(const std::string& text) noexcept {
  const std::string reason(check::without_finding(text));
  try {
    note_who_stands();
    if (endpoint)
      endpoint->abort(
          fmt::format("rank {} is leaving the job{}{}", job.rank, reason.empty() ? "" : ": ", reason));
  } catch (const std::exception& error) {
    dist::log(LogLevel::debug, "leaving: {}", error.what());
  }
  leave_with(reason, Deadline::after(hasty_patience));
}

void JobState::leave_with(const std::string& reason, Deadline deadline) noexcept {
  left_ = true;
  stall_look_.reset();  // it uses the watchdog, so it ends first
  std::vector<Gate*> gates{&context.gate};
  for (const auto& group : close_gates()) gates.push_back(&group->gate);
  if (work_watch_ && !reason.empty()) work_watch_->keep_silent();
  if (watchdog) watchdog->leaving(reason.empty());
  if (log) no_thread_stays(hasty_patience);
  if (!are_empty(gates, Deadline::after(hasty_patience))) others_stood_ = true;
  if (others_stood_) {
    for (auto& group : groups) keep_for_ever(std::move(group));
    groups.clear();
    keep_for_ever(endpoint);
    keep_for_ever(tracer);
    keep_for_ever(weak_from_this().lock());
  }
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    (*group)->backend.reset();
    (*group)->observer.reset();
    (*group)->job = nullptr;
  }
  groups.clear();
  watchdog.reset();
  signal_dump_.reset();
  if (endpoint) endpoint->close(reason);
  endpoint.reset();
  leave_store(deadline);
  if (tracer) write_trace(*tracer, settings.trace_file);  // last, because no rank waits for this one any more
  tracer.reset();
}

// The store's server may be stopped or cut off; that must not hold up a rank that leaves.
void JobState::leave_store(Deadline deadline) noexcept {
  if (!job.base) return;
  try {
    const auto leaving = std::make_shared<Job>(std::move(job));
    run_within(deadline.left() + hasty_patience, [leaving, deadline] { leave(*leaving, deadline); });
  } catch (const std::exception& error) {
    dist::log(LogLevel::debug, "leaving the store: {}", error.what());
  }
}

void forget_job(RankContext& context, const JobState& job) {
  if (job.makes_on_gpu) set_default_device(cpu);
  context.default_group = {};
  context.job.reset();
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
