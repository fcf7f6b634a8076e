// leave_now() is what leave_job() and close_at_exit() share; keep_trace_and_terminate() saves the trace of a
// program that an exception ends, and writes the error where its launcher looks for it.
#include "dist/group/join/at_exit.h"

#include <cstdlib>
#include <exception>
#include <mutex>

#include "dist/core/json.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/core/whole_file.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/rank_end.h"

namespace dist {

void leave_now(RankContext& context, const std::string& reason) noexcept {
  const auto job = JobState::of(context);
  if (!job) return;
  job->close(reason);
  forget_job(context, *job);
}

namespace {

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

constexpr auto error_file_variable = "TORCHELASTIC_ERROR_FILE";
std::terminate_handler terminate_before = nullptr;

// For the launcher, which shows it: in the form that torchrun's ranks have.
void write_error_file(const char* file) noexcept {
  try {
    std::string what = "terminate() was called";
    if (const auto error = std::current_exception()) what = describe_end(error).text;
    const OrderedJson message{{"message", what}, {"extraInfo", {{"rank", current_rank_label()}}}};
    write_whole_file(file, json_text(OrderedJson{{"message", message}}, -1, BadBytes::replace) + '\n');
  } catch (...) {
    // The error itself is on stderr.
  }
}

// An uncaught exception ends the process without exit handlers, and it is what a trace is most needed
// for.
void keep_trace_and_terminate() {
  if (const char* const file = std::getenv(error_file_variable)) write_error_file(file);
  if (const auto job = JobState::of(process_rank_context()); job && job->tracer)
    write_trace(*job->tracer, job->settings.trace_file);
  if (terminate_before) terminate_before();
  std::abort();
}

}  // namespace

void leave_at_exit(bool keeps_trace) {
  static std::once_flag registered, keeps;
  std::call_once(registered, [] { std::atexit(&close_at_exit); });
  if (keeps_trace || std::getenv(error_file_variable) != nullptr)
    std::call_once(keeps, [] { terminate_before = std::set_terminate(&keep_trace_and_terminate); });
}

void leave_job(RankContext& context, const std::string& reason) noexcept {
  const auto turn = context.turn();
  leave_now(context, reason);
}

}  // namespace dist
