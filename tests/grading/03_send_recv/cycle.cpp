// Lab 03, part 4: the cycle of waiting ranks.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/outcome.h"
#include "judge/team.h"
#include "support.h"

namespace lab03 {
namespace {

using judge::misconception;
using Ranks = std::vector<int>;
using namespace std::chrono_literals;

constexpr auto answered_within = 3s;  // all cases of a test

// The path of waits from `start`, until it ends or reaches a rank for the second time.
struct Walk {
  Ranks path;
  int then;  // the rank reached twice, or -1
};
Walk walk(const Ranks& waits_for, int start) {
  Walk walk{{}, start};
  while (walk.then != -1 && std::ranges::find(walk.path, walk.then) == walk.path.end()) {
    walk.path.push_back(walk.then);
    walk.then = waits_for[static_cast<std::size_t>(walk.then)];
  }
  return walk;
}

Ranks cycle_in(const Ranks& waits_for) {
  for (int start = 0; start < static_cast<int>(waits_for.size()); ++start) {
    if (auto [path, then] = walk(waits_for, start); then == start) return path;
  }
  return {};
}

Ranks cycle_seen_from_0(const Ranks& waits_for) {
  const auto [path, then] = walk(waits_for, 0);
  const auto cycle = cycle_in(waits_for);
  return then != -1 && std::ranges::find(cycle, then) != cycle.end() ? cycle : Ranks{};
}

// Recognizes the wrong idea behind a wrong result of one case.
void diagnose(const Ranks& waits_for, const Ranks& got) {
  const auto cycle = cycle_in(waits_for);
  const std::set<int> in_cycle(cycle.begin(), cycle.end()), in_got(got.begin(), got.end());
  if (cycle.empty()) {
    misconception("every_path_is_a_cycle",
                  "a path of waits that ends at a rank which is not blocked is not a deadlock: that rank "
                  "continues, and then the rank that waits for it");
  } else if (cycle.size() == 1 && got.empty()) {
    misconception("self_wait_forgotten", "a rank that waits for itself is a cycle of length one");
  } else if (in_got == in_cycle && got.size() == cycle.size()) {
    auto turned = got;
    std::ranges::rotate(turned, std::ranges::find(turned, cycle[0]));
    if (turned == cycle)
      misconception("begins_anywhere",
                    "this is the right cycle, but it does not begin with its smallest rank");
    else
      misconception("not_in_the_order_of_waiting",
                    "these are the ranks of the cycle in the wrong order; fix: let each rank be followed by "
                    "the rank that it waits for");
  } else if (std::ranges::includes(in_got, in_cycle)) {
    misconception("tail_in_the_cycle",
                  "a rank that waits for a rank of the cycle, while no rank of the cycle waits for it, is on "
                  "a path into the cycle but not in the cycle");
  } else if (got == cycle_seen_from_0(waits_for)) {
    misconception("looks_from_rank_0_only",
                  "the path from rank 0 does not lead to the cycle; fix: begin at every rank in turn");
  }
}

std::string call(const Ranks& waits_for) {
  return fmt::format("wait_cycle({{{}}})", fmt::join(waits_for, ", "));
}

judge::Outcome outcome_of(const std::vector<Ranks>& cases) {
  judge::Team team(judge::runner(), 1, {.work = answered_within});
  team.start(0, {{"call", "wait_cycle"}, {"cases", cases}});
  return team.finish().at(0);
}

// A process that crashed or was stopped does not report the case; the first one that also ends alone is
// reported.
void tell_the_case(const std::vector<Ranks>& cases, const judge::Outcome& of_all) {
  for (const auto& waits_for : cases) {
    const auto alone = outcome_of({waits_for});
    if (!alone.completed) return static_cast<void>(judge::has_completed(alone, call(waits_for)));
  }
  judge::has_completed(of_all, "wait_cycle");
}

std::vector<Json> ask(const std::vector<Ranks>& cases) {
  const auto outcome = outcome_of(cases);
  if (outcome.how_it_ended.find("had not finished") != std::string::npos) {
    misconception("walks_for_ever",
                  "a path that runs into a cycle from outside never comes back to its start; fix: stop at "
                  "the first rank that was visited before");
  }
  if (!outcome.completed) return tell_the_case(cases, outcome), std::vector<Json>{};
  const auto& replies = outcome.reply;
  if (replies.is_array() && replies.size() == cases.size()) return {replies.begin(), replies.end()};
  ADD_FAILURE() << "the process did not return a result for every case";
  return {};
}

}  // namespace

void expect_cycles(const std::vector<Ranks>& cases) {
  const auto replies = ask(cases);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto question = call(cases[i]);
    const auto value = judge::value_of(replies[i], question);
    if (value.is_null()) return;
    if (!value.is_array() || !std::ranges::all_of(value, &Json::is_number_integer)) {
      ADD_FAILURE() << "wait_cycle did not return a list of ranks";
      return;
    }
    const Ranks got = value, expected = cycle_in(cases[i]);
    if (got == expected) continue;
    diagnose(cases[i], got);
    ADD_FAILURE() << fmt::format("{} must return {{{}}}; it returned {{{}}}", question,
                                 fmt::join(expected, ", "), fmt::join(got, ", "));
    return;
  }
}

}  // namespace lab03
