// Lab 04: what all parts share.
#include "support.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/sim/time.h"
#include "dist/sim/topology_file.h"

namespace lab04 {
namespace {

using dist::check::Code, judge::misconception;

constexpr const char* topology = "10gbe";
constexpr double ps_per_s = 1e12;

const dist::sim::Cost& cost() {
  static const dist::sim::Cost known = dist::sim::load_topology(topology).cost_between();
  return known;
}

// Whether the ranks wait for each other in a cycle; otherwise a rank waits for one that has ended.
bool is_cycle(const dist::check::Finding& finding) {
  const auto waits = [&](int rank) {
    return std::ranges::find(finding.parties, rank, &dist::check::Party::rank) != finding.parties.end();
  };
  return std::ranges::all_of(finding.parties,
                             [&](const auto& party) { return std::ranges::any_of(party.waits_for, waits); });
}

bool receives_too_much(const dist::check::Finding& finding) {
  return std::ranges::any_of(finding.parties,
                             [](const auto& party) { return party.doing.starts_with("recv"); });
}

// Only what this lab is about; the finding's own text reports the rest.
void diagnose(const dist::check::Finding& finding) {
  if (finding.code == Code::deadlock) {
    if (!is_cycle(finding)) {
      if (receives_too_much(finding))
        misconception("more_receives_than_messages",
                      "a receive was started for a message that no rank sends; fix: give each send one "
                      "receive, and each receive one send, also when there are fewer messages than buffers");
      return;
    }
    misconception("waits_before_all_have_started",
                  "a rank waits for a send before its own receive has been started; fix: start both "
                  "directions first, then wait");
  } else if (finding.code == Code::read_before_wait) {
    misconception("reads_before_wait",
                  "irecv returns before the message has arrived; fix: do not touch the tensor, not even to "
                  "read it, before the wait() of its Work");
  } else if (finding.code == Code::changed_before_wait) {
    misconception(
        "changes_what_is_being_sent",
        "isend does not copy the tensor; fix: do not write to the tensor before the wait() of its Work");
  } else if (finding.code == Code::never_waited) {
    misconception("forgets_a_wait",
                  "every Work that isend or irecv returns must be waited for, and one was not; fix: wait for "
                  "the sends too, and for the last operations of a loop");
  } else if (finding.code == Code::overlap) {
    misconception("one_tensor_for_two_messages",
                  "a tensor is passed to a second operation while the first still uses it; fix: wait for the "
                  "Work of that tensor first");
  }
}

}  // namespace

judge::SimRun run(const std::string& about, const std::vector<Json>& tasks, const How& how) {
  judge::SimPlan plan;
  plan.about = about + (how.eager ? ", eager sends" : "");
  plan.tasks = tasks;
  if (how.timed) plan.topology = topology;
  plan.eager = how.eager;
  plan.schedule = how.schedule;
  plan.trace = true;
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose(finding);
  return run.answers();
}

double hold_seconds() { return static_cast<double>(cost().hold(many * sizeof(double))) / ps_per_s; }

double transfer_seconds() { return hold_seconds() + static_cast<double>(cost().latency) / ps_per_s; }

std::string in_us(double seconds) { return fmt::format("{:.0f} us", seconds * 1e6); }

void expect_within(const judge::SimRun& run, double seconds, const std::string& why,
                   const std::vector<SlowIdea>& ideas) {
  constexpr double allowance = 1.05, alike = 0.03;
  const double took = run.report.virtual_time_s;
  if (took <= seconds * allowance) return;
  for (const auto& idea : ideas) {
    if (std::abs(took - idea.seconds) > alike * idea.seconds) continue;
    misconception(idea.name, idea.in_words);
    break;
  }
  ADD_FAILURE() << fmt::format("the run took {} of virtual time; expected at most {} plus 5 %: {}",
                               in_us(took), in_us(seconds), why);
}

std::vector<double> small_numbers(judge::Random& random, int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(random.between(1, 96));
  return numbers;
}

std::string shown(const Json& numbers) {
  constexpr std::size_t most = 8;
  auto shorter = numbers.get<std::vector<double>>();
  const auto all = shorter.size();
  if (all > most) shorter.resize(most);
  return fmt::format("{{{}{}}}", fmt::join(shorter, ", "), all > most ? ", ..." : "");
}

}  // namespace lab04
