// Traces of real runs. Moment puts all ranks on rank 0's time (origin_of); make_tracer() and start_trace()
// begin a trace, trace_calls() records calls and waits, write_trace() writes this rank's file.
#include "dist/group/diagnosis/run_trace.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/control.h"
#include "dist/group/group_state.h"
#include "dist/group/job_state.h"
#include "dist/trace/parts.h"

namespace dist {
namespace {

template <class TimePoint>
std::int64_t ns_of(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

class CallTracing final : public CallObserver {
 public:
  explicit CallTracing(std::shared_ptr<trace::RankTracer> tracer) : tracer_(std::move(tracer)) {}

  void issued(const GroupState& group, Operation& operation, bool async) override {
    tracer_->call_begins(call_of(group, operation, async));
  }
  void began(const FlightCall& call, std::uint64_t& record) override {
    trace::Call traced;
    traced.record = record;
    traced.number = control_tags | call.sequence;
    traced.event.group = call.group;
    traced.event.sequence = call.sequence;
    traced.event.name = call.operation;
    traced.event.where = call.where;
    tracer_->call_begins(std::move(traced));
  }
  void started(GroupState&, const Operation& operation, const Plan& way) override {
    if (is_collective(operation.kind))
      tracer_->call_runs(operation.record, way.algorithm, way.in_shared_memory);
  }
  void ended(std::uint64_t record) override { tracer_->call_ends(record, trace::Ending::done); }
  void failed(std::uint64_t record) override { tracer_->call_ends(record, trace::Ending::failed); }
  void waiting(const CallNote& call, Timeout, bool yes) override {
    thread_local std::int64_t begin = 0;  // a thread waits for one Work at a time
    if (yes) {
      begin = tracer_->now();
      return;
    }
    trace::Event like;
    like.rank = call.rank;
    like.sequence = call.sequence;
    like.name = name(call.kind);
    like.where = call.where;
    tracer_->waited(like, begin);
  }

 private:
  const std::shared_ptr<trace::RankTracer> tracer_;
};

}  // namespace

Moment Moment::now() {
  return {ns_of(std::chrono::steady_clock::now()), ns_of(std::chrono::system_clock::now())};
}

std::string Moment::str() const { return fmt::format("{} {}", steady_ns, system_ns); }

Moment Moment::parse(std::string_view text) {
  Moment moment;
  const char* const end = text.data() + text.size();
  const auto steady = std::from_chars(text.data(), end, moment.steady_ns);
  if (steady.ec == std::errc() && steady.ptr != end) {
    const auto system = std::from_chars(steady.ptr + 1, end, moment.system_ns);
    if (system.ec == std::errc() && system.ptr == end) return moment;
  }
  fail(Errc::internal, "\"{}\" is not a moment", text);
}

std::chrono::steady_clock::time_point origin_of(const Moment& rank_0, bool one_host) {
  using std::chrono::nanoseconds;
  const Moment now = Moment::now();
  const std::int64_t ago = one_host ? now.steady_ns - rank_0.steady_ns : now.system_ns - rank_0.system_ns;
  return std::chrono::steady_clock::time_point(nanoseconds(now.steady_ns - ago));
}

std::shared_ptr<trace::RankTracer> make_tracer(const Settings& settings, const Job& job) {
  if (settings.trace_file.empty()) return nullptr;
  return std::make_shared<trace::RankTracer>(
      job.rank, job.world_size,
      fmt::format("{}, started by {}", counted(job.world_size, "rank"), job.launcher));
}

void start_trace(trace::RankTracer& tracer, const Job& job, const Moment& rank_0) {
  tracer.start(origin_of(rank_0, std::ranges::all_of(job.hosts, [](int host) { return host == 0; })));
}

trace::Call call_of(const GroupState& group, const Operation& operation, bool async) {
  trace::Call call;
  call.record = operation.record;
  call.number = operation.sequence;
  call.point_to_point = !is_collective(operation.kind);
  call.async = async;
  call.may_reduce = is_collective(operation.kind);
  call.event.group = group.identity.context;
  call.event.sequence = operation.sequence;
  call.event.name = name(operation.kind);
  call.event.where = operation.where;
  if (operation.kind != OpKind::barrier)
    call.event.bytes = static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) call.inputs.push_back(operation.inputs[i]);
  for (std::size_t i = 0; i < operation.outputs.size(); ++i) call.outputs.push_back(operation.outputs[i]);
  return call;
}

std::shared_ptr<CallObserver> trace_calls(std::shared_ptr<trace::RankTracer> tracer) {
  return std::make_shared<CallTracing>(std::move(tracer));
}

void write_trace(trace::RankTracer& tracer, const std::string& path) noexcept {
  if (!tracer.is_running()) return;
  try {
    const std::string file = trace::part_path(path, tracer.rank(), tracer.ranks());
    trace::write_file(tracer.take(), file);
    log(LogLevel::info, "rank {}: trace written to {}", tracer.rank(), file);
  } catch (const std::exception& error) {
    try {
      log(LogLevel::warn, "rank {}: no trace: {}", tracer.rank(), error.what());
    } catch (...) {
      // There was no memory to report it: nothing is left to try.
    }
  }
}

}  // namespace dist
