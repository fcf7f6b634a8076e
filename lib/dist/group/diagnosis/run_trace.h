// Traces of real runs (DIST_TRACE): the moment from which all ranks count time, which calls a rank's tracer
// is notified of, and where its events go in the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dist/backend/operation.h"
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
  static Moment parse(std::string_view text);  // Error{internal} when the text is damaged
};

// Rank 0's moment on this rank's steady clock. Ranks of one host share that clock, so their times agree to
// the nanosecond. With several hosts, the system clocks say how long ago it was: times of two hosts are then
// off by as much as these clocks differ (about a millisecond with NTP), and a message may seem to arrive
// before it was sent.
std::chrono::steady_clock::time_point origin_of(const Moment& rank_0, bool one_host);

// Null when no trace is wanted. The trace starts when all ranks have joined, at rank 0's moment.
std::shared_ptr<trace::RankTracer> make_tracer(const Settings& settings, const Job& job);
void start_trace(trace::RankTracer& tracer, const Job& job, const Moment& rank_0);

// An admitted call in the form that traces have; its algorithm is not known yet.
trace::Call call_of(const GroupState& group, const Operation& operation, bool async);

// Traces the calls of this rank, and the waits for their Works.
std::shared_ptr<CallObserver> trace_calls(std::shared_ptr<trace::RankTracer> tracer);

// Writes this rank's events into its file (trace/parts.h), if the trace has begun. A failure is a warning.
void write_trace(trace::RankTracer& tracer, const std::string& path) noexcept;

}  // namespace dist
