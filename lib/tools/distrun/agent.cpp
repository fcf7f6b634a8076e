#include "agent.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dist/check/who.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/group/join/environment.h"
#include "dist/launch/root_cause.h"
#include "dist/trace/parts.h"

#include "attempt.h"

namespace distrun {
namespace {

const Ended& first_failure(const Outcome& outcome) {
  std::vector<dist::RankFailure> failures;
  for (const Ended& end : outcome.failed) failures.push_back(end.failure);
  return outcome.failed[dist::root_cause(failures)];
}

std::string one_line(const Ended& end) {
  return fmt::format("rank {} failed: {}", end.failure.rank, end.failure.what);
}

void say_last_lines(Outlet& err, std::string_view rest, std::string_view headline) {
  if (!rest.empty()) err.say(headline);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    err.say(fmt::format("  {}", line));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
}

// Reports the root cause when it is on another node.
void report_elsewhere(Outlet& err, const Outcome& outcome, const std::vector<NodeFailure>& all, int node) {
  const NodeFailure* first = all.empty() ? nullptr : &all[cause_of(all)];
  if (first != nullptr && first->node != node) {
    err.say(fmt::format("rank {} on node {} failed first: {}", first->failure.rank, first->node,
                        first->failure.what));
    return say_last_lines(err, first->failure.last_words, "its last lines on stderr:");
  }
  if (first == nullptr && !outcome.elsewhere.empty())
    err.say(fmt::format("first failure: {}", outcome.elsewhere));
}

// Reports the root cause first, then the failures that followed from it.
void report(Outlet& err, const Outcome& outcome, const Place& place, const std::vector<NodeFailure>& all) {
  report_elsewhere(err, outcome, all, place.node_rank);
  if (outcome.failed.empty()) return err.say("ended the ranks of this node");
  const Ended& first = first_failure(outcome);
  err.say(fmt::format("rank {} failed: {} (local rank {} on node {}, pid {})", first.failure.rank,
                      first.failure.what, first.failure.rank - place.first_rank, place.node_rank, first.pid));
  if (first.error.empty())
    say_last_lines(err, first.last_lines, "its last lines on stderr:");
  else
    say_last_lines(err, first.error, "its error.json says:");
  std::vector<std::string> others;
  for (const Ended& end : outcome.failed) {
    if (&end != &first) others.push_back(fmt::format("rank {} ({})", end.failure.rank, end.failure.what));
  }
  if (!others.empty()) err.say(fmt::format("then failed: {}", fmt::join(others, ", ")));
  if (!outcome.ended.empty())
    err.say(fmt::format("ended by distrun: {}", dist::check::list_ranks(outcome.ended)));
}

int exit_code(const Outcome& outcome) {
  if (outcome.signal != 0) return 128 + outcome.signal;
  return outcome.failed.empty() ? 1 : exit_code_of(first_failure(outcome).status);
}

// --redirects and --tee write here when no --log-dir is given.
std::string make_log_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "distrun_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot create " + folder);
  return folder;
}

// While distrun waits for other nodes, none of its own ranks runs, so a signal may end distrun in the usual
// way.
template <class F>
auto wait_unguarded(Signals& signals, F&& wait) {
  signals.let_through();
  const auto result = wait();
  signals.hold();
  return result;
}

// Says what follows an attempt that has failed. Returns whether the ranks start again.
bool start_again(const Stage& stage, Outcome& outcome, int attempt) {
  Nodes& nodes = stage.nodes;
  if (outcome.signal != 0)
    return nodes.report_stop(attempt, fmt::format("stopped by signal {}", outcome.signal)), false;
  if (outcome.output_error != 0)
    return nodes.report_stop(attempt, "its standard output cannot be written"), false;
  const std::string failed = outcome.failed.empty() ? "" : one_line(first_failure(outcome));
  const bool may_meet = !outcome.elsewhere.starts_with(store_is_lost);
  if (may_meet && stage.options.is_elastic() &&
      wait_unguarded(stage.signals, [&] { return nodes.agrees_to_join(attempt); })) {
    if (!failed.empty()) stage.err.say(failed);
    stage.err.say(fmt::format("{}: starting all ranks again", a_node_joins));
  } else if (!may_meet || nodes.restarts() >= stage.options.max_restarts) {
    const std::string lost = nodes.lost_node();
    if (!lost.empty()) stage.err.say(lost);
    if (outcome.elsewhere == lost) outcome.elsewhere.clear();
    report(stage.err, outcome, nodes.place(), nodes.failures(attempt));
    return false;
  } else {
    stage.err.say(fmt::format("{}; restarting all ranks ({} of {})",
                              outcome.elsewhere.empty() ? failed : outcome.elsewhere, nodes.restarts() + 1,
                              stage.options.max_restarts));
  }
  return wait_unguarded(stage.signals, [&] { return nodes.regroup(stage.options); });
}

int run_attempts(const Stage& stage, const Command& command) {
  const std::string trace_file = dist::process_environment("DIST_TRACE").value_or("");
  while (true) {
    const int attempt = stage.nodes.attempt();
    std::optional<dist::trace::JoinedTrace> trace;
    if (stage.nodes.place().nodes == 1) trace.emplace(trace_file, stage.nodes.place().world_size);
    Outcome outcome = Attempt(stage, command, attempt).run();
    if (outcome.is_good())
      outcome.elsewhere =
          wait_unguarded(stage.signals, [&] { return stage.nodes.finish(attempt); }).value_or("");
    if (outcome.is_good()) return 0;
    if (!start_again(stage, outcome, attempt)) return exit_code(outcome);
  }
}

}  // namespace

int run(Options options, Guardian& guardian, Signals& signals) {
  const Command command = find_program(options.program);
  dist::make_room_for_descriptors(options.nproc_per_node, "distrun");
  Outlet out(STDOUT_FILENO), err(STDERR_FILENO);
  if (err.is_same_file_as(out)) err.share_lines_with(out);
  Nodes nodes(options, err);
  if (!wait_unguarded(signals, [&] { return nodes.join(options); }))
    return err.flush(dist::Deadline::never()), 0;
  if (options.log_dir.empty() && (options.tee.is_any() || options.redirects.is_any())) {
    options.log_dir = make_log_folder();
    err.say("logs are in " + options.log_dir);
  }
  if (sets_omp_threads(own_environment(), nodes.place())) {
    err.say(fmt::format("OMP_NUM_THREADS=1 for each of {}; set it yourself to use more threads",
                        dist::counted(nodes.place().local_size, "rank")));
  }
  const int code = run_attempts({options, nodes, guardian, signals, out, err}, command);
  nodes.leave();
  signals.let_through();  // no rank runs any more, but a slow reader or other nodes may keep us waiting
  out.flush(dist::Deadline::never());
  const bool has_reader = out.error() != EPIPE || signals.inherited().ignores(SIGPIPE);
  const bool is_lost = out.is_broken() && has_reader;
  if (is_lost) err.say(fmt::format("standard output cannot be written: {}", std::strerror(out.error())));
  err.flush(dist::Deadline::never());
  return is_lost && code == 0 ? 1 : code;
}

}  // namespace distrun
