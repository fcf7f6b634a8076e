#include "judge/sim_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iterator>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/op_kind.h"
#include "dist/simulate/remote/host.h"
#include "dist/trace/recorder.h"

#include "judge/exam.h"
#include "judge/team.h"
#include "judge/trouble.h"

namespace judge {
namespace {

using dist::sim::Report;

// A topology of ours, or one of the library's.
std::string topology_named(const std::string& name) {
  const auto ours = std::filesystem::path(JUDGE_TOPOLOGIES) / (name + ".json");
  return std::filesystem::exists(ours) ? ours.string() : name;
}

// "all_reduce" of "ring_all_reduce".
std::string collective_of(std::string_view label) {
  std::string longest;
  for (int kind = 0; kind <= static_cast<int>(dist::OpKind::barrier); ++kind) {
    const std::string_view name = dist::name(static_cast<dist::OpKind>(kind));
    if (label.ends_with(name) && name.size() > longest.size()) longest = name;
  }
  return longest;
}

// The simulation runs in a thread of its own; this one takes in what the processes print and answer.
Report run_beside(Team& team, std::vector<dist::UniqueFd> lines, const SimPlan& plan, SimRun& run) {
  auto& built_ins = run.built_ins;
  run.done.resize(plan.tasks.size());
  dist::sim::RunOptions options;
  options.ranks = team.size();
  options.topology = topology_named(plan.topology);
  options.seed = plan.schedule;
  options.trace = plan.trace || !traces().empty();
  dist::sim::ProcessOptions processes;
  // Only the team's clock decides who is late: of two clocks with one limit either may be first.
  std::stop_source stopped;
  processes.patience = dist::no_timeout;
  processes.stopped = stopped.get_token();
  const auto add = [&](const BuiltIn& call) {
    const auto is_it = [&](const BuiltIn& other) {
      return other.name == call.name && other.where == call.where;
    };
    constexpr std::size_t enough = 64;  // a program calls from a handful of places
    if (built_ins.size() < enough && std::ranges::none_of(built_ins, is_it)) built_ins.push_back(call);
  };
  const auto count = [&run](int rank, const std::string& name, std::uint64_t bytes) {
    auto& done = run.done.at(static_cast<std::size_t>(rank))[name];
    ++done.calls;
    done.bytes += bytes;
  };
  processes.collective = [add, count](int rank, dist::OpKind kind, dist::CallSite where,
                                      std::uint64_t bytes) {
    count(rank, std::string(dist::name(kind)), bytes);
    add({rank, std::string(dist::name(kind)), where.str()});
  };
  processes.sent = plan.sent;
  std::set<int> joined;
  processes.exchanged = [add, count, &joined](int rank, const dist::ControlMessage& call) {
    const std::string name = call.call.substr(0, call.call.find('('));
    const bool is_first = name == "init_process_group" && joined.insert(rank).second;
    if (is_first) return;
    if (name == "new_group" || name == "split_group") count(rank, name, 0);  // others: by any name
    add({rank, name, call.place.str()});
  };
  Report report;
  std::exception_ptr fault, trouble;  // there, and here
  std::atomic<bool> ended{false};
  std::thread simulation([&] {
    try {
      report = dist::sim::run_processes(options, std::move(lines), processes);
    } catch (...) {
      fault = std::current_exception();
    }
    ended = true;
  });
  try {
    while (!ended && !team.is_overdue()) team.listen(Milliseconds(2));
  } catch (...) {
    trouble = std::current_exception();
  }
  if (!ended) team.stop();
  stopped.request_stop();  // even where something that a process left behind keeps its line open
  simulation.join();
  for (const auto& why : {trouble, fault}) {
    if (why) std::rethrow_exception(why);
  }
  return report;
}

// Something to draw: a message, a collective, or which rank waits for which.
bool has_picture(const SimRun& run) {
  const auto waits = [](const auto& finding) { return finding.code == dist::check::Code::deadlock; };
  const auto is_drawn = [](const BuiltIn& call) { return !collective_of(call.name).empty(); };
  return run.report.messages > 0 || std::ranges::any_of(run.built_ins, is_drawn) ||
         std::ranges::any_of(run.report.findings, waits);
}

// Collectives that a process has asked the simulation for, and has not reported to the trace. Empty: none.
std::string hidden_collective(const SimRun& run) {
  if (run.report.trace.events.empty()) return {};
  for (std::size_t rank = 0; rank < run.done.size(); ++rank) {
    for (const auto& [name, done] : run.done[rank]) {
      if (name == "new_group" || name == "split_group") continue;
      Done told;
      for (const auto& event : run.report.trace.events) {
        if (event.kind != dist::trace::Kind::call || std::cmp_not_equal(event.rank, rank) ||
            event.name != name)
          continue;
        ++told.calls;
        told.bytes += event.bytes;
      }
      if (done.calls > told.calls || done.bytes > told.bytes)
        return fmt::format("rank {} has reported {} calls of {} with {} bytes; it has made {} with {} bytes",
                           rank, told.calls, name, told.bytes, done.calls, done.bytes);
    }
  }
  return {};
}

// The picture of a failed run is kept for those who want to see it.
void keep_trace(const SimRun& run, const SimPlan& plan) {
  if (testing::Test::HasFailure()) return;
  testing::Test::RecordProperty("picture", has_picture(run) ? "yes" : "");
  if (traces().empty()) return;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  dist::trace::Trace trace = run.report.trace;
  if (!plan.about.empty()) trace.title = plan.about;
  dist::trace::write_file(trace,
                          fmt::format("{}/{}.{}.json", traces(), test->test_suite_name(), test->name()));
}

}  // namespace

SimRun simulate(const SimPlan& plan) {
  std::vector<dist::UniqueFd> ours, theirs;
  for (std::size_t rank = 0; rank < plan.tasks.size(); ++rank) {
    auto [our_end, their_end] = socket_pair();
    ours.push_back(std::move(our_end));
    theirs.push_back(std::move(their_end));
  }
  Team team(plan.program.empty() ? runner() : plan.program, static_cast<int>(plan.tasks.size()), plan.limits,
            std::move(theirs));
  team.hide(plan.hidden);
  std::vector<Json> tasks = plan.tasks;
  for (Json& task : tasks) task.update({{"simulated", true}, {"eager", plan.eager}});
  team.start_all(tasks);
  SimRun run;
  run.report = run_beside(team, std::move(ours), plan, run);
  run.ranks = team.finish();
  run.about = plan.about.empty() ? "" : plan.about + ": ";
  keep_trace(run, plan);
  return run;
}

Report simulate_own(const dist::sim::RunOptions& options, const std::function<void(int rank)>& fn) {
  Report report = dist::sim::run(options, fn);
  if (!report.failures.empty())
    throw Trouble("a run of the grader's own failed: " + report.failures.front().what);
  return report;
}

std::vector<Json> SimRun::answers(const std::vector<std::string_view>& allowed) const {
  for (const Outcome& outcome : ranks) {
    if (is_todo(outcome.reply)) return value_of(outcome.reply, "a rank"), std::vector<Json>{};
  }
  for (const BuiltIn& built_in : built_ins) {
    if (std::ranges::find(allowed, built_in.name) != allowed.end()) continue;
    ADD_FAILURE() << fmt::format("{}rank {} calls dist::{} at {}; this part asks you to do without it", about,
                                 built_in.rank, built_in.name, built_in.where);
    return {};
  }
  if (!report.findings.empty()) {
    ADD_FAILURE() << about << report.findings.front().text();
    return {};
  }
  if (!report.failures.empty()) {
    const auto& failure = report.failures.front();
    const bool is_gone = failure.what.find("its process is gone") != std::string::npos;
    const Outcome& outcome = ranks.at(static_cast<std::size_t>(failure.rank));
    if (is_gone && !outcome.how_it_ended.empty())
      has_completed(outcome, fmt::format("{}rank {}", about, failure.rank));
    else
      ADD_FAILURE() << about << failure.what;
    return {};
  }
  if (const auto hidden = hidden_collective(*this); !hidden.empty()) {
    ADD_FAILURE() << about << hidden;
    return {};
  }
  std::vector<Json> values;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto who = fmt::format("{}rank {}", about, rank);
    if (!has_completed(ranks[rank], who)) return {};
    values.push_back(value_of(ranks[rank].reply, who));
  }
  return values;
}

bool has_computed(const SimRun& run, int rank, double seconds) {
  constexpr double ps = 1e-12, rounding = 1e-6;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      spans;  // a rank may have several tasks, but computes with one
  for (const auto& event : run.report.trace.events) {
    if (event.kind == dist::trace::Kind::compute && event.rank == rank)
      spans.emplace_back(event.begin, event.end);
  }
  std::ranges::sort(spans);
  double computed = 0;
  std::int64_t until = 0;
  for (const auto& [begin, end] : spans) {
    computed += ps * static_cast<double>(std::max(end, until) - std::max(begin, until));
    until = std::max(end, until);
  }
  if (computed >= seconds * (1 - rounding)) return true;
  ADD_FAILURE() << fmt::format(
      "{}rank {} has computed for {:.6g} s of virtual time; what it had to compute takes {:.6g} s, so the "
      "clock was not told all of it",
      run.about, rank, computed, seconds);
  return false;
}

int rounds(const Report& report) { return static_cast<int>(std::lround(report.virtual_time_s * 1e6)); }

}  // namespace judge
