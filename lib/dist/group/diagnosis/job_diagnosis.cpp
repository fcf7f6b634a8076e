// What watches over the calls of a rank: who is notified of each, and the threads that look for calls that
// hang.
#include <fmt/format.h>

#include "dist/group/diagnosis/fingerprint.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/diagnosis/traced_endpoint.h"
#include "dist/group/diagnosis/work_watch.h"
#include "dist/group/job_state.h"

namespace dist {

void JobState::subscribe_observers() {
  calls = std::make_shared<CallObservers>(log);
  if (tracer) calls->subscribe(trace_calls(tracer), true);
  if (simulation)
    calls->subscribe(simulation, true);
  else
    calls->subscribe(work_watch_ = std::make_shared<WorkWatch>(log), false);
}

// The check needs all ranks. So it follows what they have agreed on, and comes before those that take the
// call for admitted.
void JobState::check_mismatches() {
  if (settings.debug == DebugLevel::detail)
    calls->subscribe(std::make_shared<MismatchCheck>(), true, tracer ? 1 : 0);
}

void JobState::start_diagnosis() {
  tracer = make_tracer(settings, job);
  if (tracer) endpoint = traced(endpoint, tracer);
  watchdog = std::make_unique<Watchdog>(std::make_shared<PrefixStore>("watchdog", job.store), log);
  if (settings.deadlock_after_s == 0 || job.world_size == 1) return;
  const auto after = std::chrono::seconds(settings.deadlock_after_s);
  stall_look_ = std::make_unique<StallLook>(log, *watchdog, after, [this](const check::Finding& finding) {
    endpoint->abort(fmt::format("it would hang forever; {}", finding.line()));
  });
}

}  // namespace dist
