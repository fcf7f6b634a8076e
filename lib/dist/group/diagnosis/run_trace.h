// Traces of real runs (DIST_TRACE): from when all ranks count, what a rank's tracer is told of calls, and
// where its events go in the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/join/settings.h"
#include "dist/trace/rank_tracer.h"

namespace dist {

struct GroupState;

// A moment on both clocks of a host.
struct Moment {
  std::int64_t steady_ns = 0, system_ns = 0;

  static Moment now();
  std::string str() const;
  static Moment parse(std::string_view text);  // Error{internal} when it is none
};

// Rank 0's moment on this rank's steady clock. Ranks of one host share that clock: their times fit to the
// nanosecond. Where there are several hosts, the system clocks say how long ago it was: times of two hosts
// are then off by as much as these differ (about a millisecond with NTP), and a message may seem to arrive
// before it was sent.
std::chrono::steady_clock::time_point origin_of(const Moment& rank_0, bool one_host);

// Null when no trace is asked for. It starts when all ranks have said hello, at rank 0's moment.
std::shared_ptr<trace::RankTracer> make_tracer(const Settings& settings, const Job& job);
void start_trace(trace::RankTracer& tracer, const Job& job, const Moment& rank_0);

// An admitted call, for whoever traces it; by which algorithm it will run is not known yet.
trace::Call call_of(const GroupState& group, const Operation& operation, bool async);

// An admitted call begins; nothing when no trace is kept. It ends by RankTracer::call_ends().
void trace_call(const GroupState& group, const Operation& operation, bool async);

// The same Work; its waits are traced.
std::shared_ptr<WorkState> traced(std::shared_ptr<trace::RankTracer> tracer, const CallNote& call,
                                  std::shared_ptr<WorkState> work);

// This rank's events into its file (trace/parts.h), if the trace has begun. Trouble is a warning.
void write_trace(trace::RankTracer& tracer, const std::string& path) noexcept;

}  // namespace dist
