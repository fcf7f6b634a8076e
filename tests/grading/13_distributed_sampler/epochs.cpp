// Lab 13, part 5: ranks with different numbers of batches.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/numbers.h"
#include "support.h"

namespace lab13 {
namespace {

using judge::misconception;

struct Batches {
  std::vector<Indices> of;  // [rank]
  std::size_t shortest() const { return std::ranges::min(of, {}, &Indices::size).size(); }
  std::size_t longest() const { return std::ranges::max(of, {}, &Indices::size).size(); }
  std::string text() const {
    std::vector<std::size_t> counts;
    for (const auto& mine : of) counts.push_back(mine.size());
    return fmt::format("run_epoch of ranks with {} batches", fmt::join(counts, ", "));
  }
};

// Among the batches that every rank runs, some are numbered as a program might note that it has none.
constexpr std::int64_t marks[]{0, -1, std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()};

Batches draw(judge::Random& random, const std::vector<int>& counts) {
  Batches batches;
  for (const int count : counts) {
    Indices mine;
    for (int i = 0; i < count; ++i) mine.push_back(random.between(100, 999));
    batches.of.push_back(mine);
  }
  const auto shortest = static_cast<int>(batches.shortest());
  for (std::size_t i = 0; shortest > 0 && i < std::size(marks); ++i)
    batches.of[i % batches.of.size()][static_cast<std::size_t>(random.between(0, shortest - 1))] = marks[i];
  return batches;
}

// Two epochs, one after the other. `silent`: the steps have no collective of their own.
using Epochs = std::array<Batches, 2>;
Epochs draw_epochs(judge::Random& random, std::vector<int> counts) {
  Batches first = draw(random, counts);
  std::ranges::reverse(counts);
  return {first, draw(random, counts)};
}

judge::SimRun run(const Epochs& epochs, bool silent, bool trace = false) {
  judge::SimPlan plan;
  plan.about = epochs[0].text() + ", then " + epochs[1].text();
  plan.trace = trace;
  for (std::size_t rank = 0; rank < epochs[0].of.size(); ++rank)
    plan.tasks.push_back({{"call", "run_epoch"}, {"silent", silent}});
  plan.hidden = [&](int rank, const judge::Request& request) {
    if (request.of < 0 || request.of >= std::ssize(epochs)) return Json();
    const auto& mine = epochs[static_cast<std::size_t>(request.of)].of[static_cast<std::size_t>(rank)];
    const bool is_there = request.index >= 0 && request.index < std::ssize(mine);
    return is_there ? Json(mine[static_cast<std::size_t>(request.index)]) : Json();
  };
  return judge::simulate(plan);
}

void diagnose_steps(const Batches& batches, const std::vector<Json>& replies) {
  const auto stops_at = [&](std::int64_t mark) {
    std::size_t first = batches.shortest();
    for (const auto& mine : batches.of)
      first = std::min(first, static_cast<std::size_t>(std::ranges::find(mine, mark) - mine.begin()));
    return first < batches.shortest() &&
           std::ranges::all_of(replies, [&](const Json& reply) { return reply.at("steps") == first; });
  };
  bool own = true, longest = true;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    own = own && replies[rank].at("steps") == batches.of[rank].size();
    longest = longest && replies[rank].at("steps") == batches.longest();
  }
  if (own) {
    misconception(
        "stops_alone",
        "each rank runs as many steps as it has batches, and the collectives of the other ranks wait for the "
        "ranks that have stopped; fix: before each step, all ranks must agree that every rank continues");
  } else if (longest) {
    misconception("goes_on_with_the_longest",
                  "the ranks continue as long as one rank has a batch; fix: stop as soon as one rank has "
                  "none: MIN of 1 and 0, not MAX");
  } else if (std::ranges::any_of(marks, stops_at)) {
    misconception(
        "a_batch_that_is_taken_for_none",
        "the epoch ended at a batch whose number stands for \"none\" in your program, but it is a batch like "
        "any other; fix: ask the optional itself whether there is one (has_value()), not the number");
  }
}

bool check_epoch(const Batches& batches, const std::vector<Json>& replies) {
  const auto steps = batches.shortest();
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const auto& mine = batches.of[rank];
    const Indices right(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(steps));
    const auto got = replies[rank].at("batches").get<Indices>();
    if (replies[rank].at("steps") != steps || got != right) {
      diagnose_steps(batches, replies);
      ADD_FAILURE() << fmt::format(
          "{}: rank {} must run {}, with the batches {}; it returned {}, after steps with the batches {}",
          batches.text(), rank, judge::counted(steps, "step"), text(right), replies[rank].at("steps").dump(),
          text(got));
      return false;
    }
    if (!replies[rank].at("asked_ahead")) continue;
    misconception("takes_all_batches_first",
                  "all batches are taken and counted before the first step: they would have to fit into "
                  "memory, and an endless source would never be counted; fix: take one batch at a time");
    ADD_FAILURE() << fmt::format(
        "{}: rank {} must call next() once per step; it called it again before step() had its batch",
        batches.text(), rank);
    return false;
  }
  return true;
}

bool check(const Epochs& epochs, const judge::SimRun& done) {
  if (!done.report.findings.empty()) {
    misconception("leaves_without_a_word",
                  "a rank without a batch returned without taking part in the next all_reduce, by which the "
                  "other ranks ask whether every rank continues; fix: take part once more, with 0");
  }
  const auto replies = done.answers({"all_reduce"});
  if (replies.empty()) return false;
  for (std::size_t epoch = 0; epoch < epochs.size(); ++epoch) {
    std::vector<Json> of_epoch;
    for (const Json& reply : replies) of_epoch.push_back(reply.at(epoch));
    if (!check_epoch(epochs[epoch], of_epoch)) return false;
  }
  return true;
}

}  // namespace

void expect_stops_together(judge::Random& random, const std::vector<int>& counts) {
  const auto epochs = draw_epochs(random, counts);
  if (check(epochs, run(epochs, true))) check(epochs, run(epochs, false));
}

void expect_one_small_all_reduce(judge::Random& random, const std::vector<int>& counts) {
  const auto epochs = draw_epochs(random, counts);
  const auto done = run(epochs, true, true);
  if (!check(epochs, done)) return;
  const auto steps = epochs[0].shortest() + epochs[1].shortest(), right = steps + epochs.size();
  std::vector<std::size_t> calls(counts.size());
  for (const auto& event : done.report.trace.events) {
    if (event.kind != dist::trace::Kind::call || event.name != "all_reduce") continue;
    ++calls.at(static_cast<std::size_t>(event.rank));
    if (event.bytes <= 8) continue;
    ADD_FAILURE() << fmt::format("{}: an all_reduce has {}; expected at most 8", done.about,
                                 judge::counted(event.bytes, "byte"));
    return;
  }
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    if (calls[rank] == right) continue;
    ADD_FAILURE() << fmt::format(
        "{}: rank {} called all_reduce {} for {}; expected {}, in each epoch one before each step and one "
        "that "
        "stops",
        done.about, rank, judge::counted(calls[rank], "time"), judge::counted(steps, "step"),
        judge::counted(right, "call"));
    return;
  }
}

}  // namespace lab13
