// Lab 20, parts 1 and 2: cuts and lists.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab20 {
namespace {

using judge::misconception;

double costliest(const std::vector<double>& costs, const std::vector<int>& sizes) {
  double most = 0;
  auto at = costs.begin();
  for (const int size : sizes) {
    most = std::max(most, std::accumulate(at, at + size, 0.0));
    at += size;
  }
  return most;
}

// The least number of units of the costliest stage: the limit is between what fails and what is enough.
double least(const Cut& cut) {
  const auto is_enough = [&](double limit) {
    int stages = 1;
    double sum = 0;
    for (const double cost : cut.costs) {
      if (sum + cost > limit) ++stages, sum = 0;
      sum += cost;
    }
    return stages <= cut.stages;
  };
  double fails = *std::ranges::max_element(cut.costs) - 1;
  double enough = std::accumulate(cut.costs.begin(), cut.costs.end(), 0.0);
  while (enough - fails > 1) {
    const double middle = std::floor((fails + enough) / 2);
    (is_enough(middle) ? enough : fails) = middle;
  }
  return enough;
}

std::vector<double> in_units(const Cut& cut) {
  std::vector<double> costs = cut.costs;
  for (double& cost : costs) cost *= cut.unit;
  return costs;
}

// The cut in which a stage is full when it has its share of the total, or when one more layer would exceed
// it.
std::vector<int> filled(const Cut& cut, bool may_exceed) {
  const double average = std::accumulate(cut.costs.begin(), cut.costs.end(), 0.0) / cut.stages;
  std::vector<int> sizes(1);
  double sum = 0;
  for (std::size_t layer = 0; layer < cut.costs.size(); ++layer) {
    const int left = static_cast<int>(cut.costs.size() - layer),
              missing = cut.stages - static_cast<int>(sizes.size());
    const bool is_full = may_exceed ? sum >= average : sum + cut.costs[layer] > average;
    if (sizes.back() > 0 && missing > 0 && (is_full || left <= missing)) sizes.push_back(0), sum = 0;
    ++sizes.back();
    sum += cut.costs[layer];
  }
  return sizes;
}

// An int or a float has not all of these costs.
bool needs_double(const Cut& cut) {
  return cut.unit != 1 || std::ranges::any_of(cut.costs, [](double cost) { return cost > 1 << 24; });
}

// All answers, as one alone may be of equal counts by chance. The cuts before `wrong` were right.
void diagnose_cuts(const std::vector<Cut>& cuts, const Json& answers, std::size_t wrong) {
  const auto is_even = [](const std::vector<int>& sizes) {
    const auto [fewest, most] = std::ranges::minmax(sizes);
    return most - fewest <= 1;
  };
  const auto all_are_filled = [&](bool may_exceed) {
    for (std::size_t i = 0; i <= wrong; ++i)
      if (answers[i] != Json(filled(cuts[i], may_exceed))) return false;
    return true;
  };
  if (std::ranges::all_of(answers, is_even))
    misconception(
        "counts_layers",
        "all stages have equally many layers, whatever these cost; fix: a stage's time is the sum of "
        "its layers' costs, so compare these sums");
  else if (all_are_filled(true) || all_are_filled(false))
    misconception(
        "fills_one_stage_after_another",
        "the stages were filled one after another, and the last one had to take what was left; fix: "
        "consider every place of the last cut, with the best cut of the layers before it");
  else if (needs_double(cuts[wrong]) &&
           std::ranges::any_of(cuts, [](auto& cut) { return !needs_double(cut); }))
    misconception("rounds_the_costs",
                  "small whole costs were right, fractions or large ones are not, as if they were added up "
                  "in a type that rounds them; fix: add up in double");
}

std::string text(const List& list) {
  std::vector<std::string> words;
  for (const Action& action : list)
    words.push_back(fmt::format("{}{}", action.is_forward ? 'F' : 'B', action.micro_batch));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, " "));
}

List list_of(const Json& answer) {
  List list;
  for (const auto& action : answer) list.push_back({action.at(0) == "F", action.at(1)});
  return list;
}

int in_flight(const List& list) {
  int now = 0, most = 0;
  for (const Action& action : list) most = std::max(most, now += action.is_forward ? 1 : -1);
  return most;
}

// What is wrong with one rank's list by itself.
std::string complaint(const List& list, int micro_batches) {
  for (const bool is_forward : {true, false}) {
    for (int j = 0; j < micro_batches; ++j)
      if (const auto count = std::ranges::count(list, Action{is_forward, j}); count != 1)
        return fmt::format("{}{} must be there once; it is there {} times", is_forward ? 'F' : 'B', j, count);
  }
  if (std::ssize(list) != 2 * micro_batches) return "it contains a micro-batch that does not exist";
  for (int j = 0; j < micro_batches; ++j)
    if (std::ranges::find(list, Action{false, j}) < std::ranges::find(list, Action{true, j}))
      return fmt::format("B{} comes before F{}", j, j);
  return {};
}

// Runs the lists: a forward takes 1, a backward 2. The time; nothing if the ranks wait for each other.
std::optional<double> time_of(const std::vector<List>& lists, int micro_batches) {
  const auto p = lists.size(), m = static_cast<std::size_t>(micro_batches);
  std::vector done(2, std::vector(p, std::vector<double>(m, -1)));
  std::vector<std::size_t> at(p);
  std::vector<double> now(p);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < p; ++i) {
      while (at[i] < lists[i].size()) {
        const auto [is_forward, j] = lists[i][at[i]];
        const auto micro_batch = static_cast<std::size_t>(j);
        const bool waits = is_forward ? i > 0 : i + 1 < p;
        const double ready = waits ? done[is_forward][is_forward ? i - 1 : i + 1][micro_batch] : 0;
        if (ready < 0) break;
        now[i] = std::max(now[i], ready) + (is_forward ? 1 : 2);
        done[is_forward][i][micro_batch] = now[i];
        ++at[i];
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < p; ++i)
    if (at[i] < lists[i].size()) return {};
  return *std::ranges::max_element(now);
}

bool flushes(const List& list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] != Action{i % 2 == 0, static_cast<int>(i / 2)}) return false;
  return true;
}

int warm_up(const List& list) {
  return static_cast<int>(std::ranges::find(list, false, &Action::is_forward) - list.begin());
}

void diagnose_list(const List& got, const List& right, int micro_batches, bool all_flush) {
  const int beyond = static_cast<int>(
      std::ranges::count_if(got, [&](const Action& action) { return action.micro_batch >= micro_batches; }));
  List backwards;
  for (const Action& action : got)
    if (!action.is_forward) backwards.push_back(action);
  if (beyond > 0) {
    misconception("more_forwards_than_micro_batches",
                  "the list has micro-batches that do not exist: there are fewer of them than ranks, and the "
                  "warm-up does not end with the last one; fix: run min(m, p - i) forwards first");
  } else if (backwards.size() > 1 && backwards.front().micro_batch > backwards.back().micro_batch) {
    misconception("last_backward_first",
                  "backwards run from the last micro-batch to the first; in a model the last layer is the "
                  "first in backward, but micro-batches keep their order; fix: run B0 first");
  } else if (all_flush && !flushes(right)) {
    misconception("flushes_after_each_micro_batch",
                  "each micro-batch is finished before the next one begins, so only one rank computes at a "
                  "time; fix: run min(m, p - i) forwards before the first backward");
  } else if (warm_up(got) != warm_up(right)) {
    misconception(
        "wrong_number_of_warm_up_steps",
        fmt::format("{} forwards come before the first backward, and it must be {}; fix: rank i has "
                    "p - i ranks from itself to the last one, so min(m, p - i) micro-batches are "
                    "ahead",
                    warm_up(got), warm_up(right)));
  }
}

// Why the lists of all ranks are wrong, in the words of `look`; empty: they are right in this respect.
std::string wrong(const std::vector<List>& lists, const std::vector<List>& right, const Size& size,
                  Look look) {
  const auto m = size.micro_batches;
  for (int i = 0; i < size.ranks; ++i) {
    const auto rank = static_cast<std::size_t>(i);
    if (const auto what = complaint(lists[rank], m); !what.empty())
      return fmt::format("rank {}: {}", i, what);
    if (look == Look::order && lists[rank] != right[rank])
      return fmt::format("rank {} must run {}", i, text(right[rank]));
    if (look == Look::in_flight && in_flight(lists[rank]) != in_flight(right[rank]))
      return fmt::format("rank {} has up to {} micro-batches in flight; it must be {}", i,
                         in_flight(lists[rank]), in_flight(right[rank]));
  }
  if (look == Look::order || look == Look::in_flight) return {};
  const auto time = time_of(lists, m);
  if (!time) return "the ranks wait for each other, so the lists never end";
  const int least = 3 * (m + size.ranks - 1);
  if (look == Look::bubble && *time > least)
    return fmt::format("a step takes {}, if a forward takes 1 and a backward 2; it must take {}", *time,
                       least);
  return {};
}

}  // namespace

void expect_cuts(const std::vector<Cut>& cuts, bool best) {
  Json cases = Json::array();
  for (const Cut& cut : cuts)
    cases.push_back({{"costs", in_units(cut)},
                     {"stages", cut.stages},
                     {"text", fmt::format("{} layers in {} stages", cut.costs.size(), cut.stages)}});
  const Json answers = judge::ask("cut", cases);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::vector<int> sizes = answers[i];
    const auto& [costs, stages, unit] = cuts[i];
    const std::string about = fmt::format("costs {{{}}}, {} stages: {{{}}} layers",
                                          fmt::join(in_units(cuts[i]), ", "), stages, fmt::join(sizes, ", "));
    const auto layers = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const bool has_all = std::ssize(sizes) == stages &&
                         std::ranges::all_of(sizes, [](int size) { return size > 0; }) &&
                         layers == std::ssize(costs);
    if (!has_all) {
      if (layers < std::ssize(costs))
        misconception("loses_layers",
                      "some layers are on no stage; fix: what a division leaves over belongs to "
                      "a stage, too");
      ADD_FAILURE() << about << "; every stage must have at least one layer, and all stages together "
                    << costs.size();
      return;
    }
    if (!best || costliest(costs, sizes) <= least(cuts[i])) continue;
    diagnose_cuts(cuts, answers, i);
    ADD_FAILURE() << fmt::format("{}; the costliest stage costs {}, and {} is possible", about,
                                 unit * costliest(costs, sizes), unit * least(cuts[i]));
    return;
  }
}

List right_list(const std::string& kind, int rank, const Size& size) {
  const int m = size.micro_batches, ahead = kind == "1f1b" ? std::min(m, size.ranks - rank) : m;
  List list;
  for (int forward = 0, backward = 0; backward < m;) {
    if (forward < m && forward - backward < ahead)
      list.push_back({true, forward++});
    else
      list.push_back({false, backward++});
  }
  if (kind == "last_first") std::ranges::reverse(list.begin() + m, list.end());
  if (kind == "any_order") {
    std::ranges::reverse(list.begin(), list.begin() + m);
    std::ranges::rotate(list.begin() + m, list.begin() + m + 1, list.end());
  }
  return list;
}

void expect_lists(const std::string& kind, const std::vector<Size>& sizes, Look look) {
  Json cases = Json::array();
  for (const auto& [ranks, micro_batches] : sizes)
    for (int rank = 0; rank < ranks; ++rank)
      cases.push_back({{"kind", kind},
                       {"rank", rank},
                       {"ranks", ranks},
                       {"micro_batches", micro_batches},
                       {"text", fmt::format("rank {} of {}, {} micro-batches", rank, ranks, micro_batches)}});
  const Json answers = judge::ask("schedule", cases);
  if (answers.empty()) return;
  std::size_t next = 0;
  for (const Size& size : sizes) {
    std::vector<List> lists, right;
    for (int rank = 0; rank < size.ranks; ++rank) {
      lists.push_back(list_of(answers.at(next++)));
      right.push_back(right_list(kind, rank, size));
    }
    const std::string what = wrong(lists, right, size, look);
    if (what.empty()) continue;
    std::string got;
    const bool all_flush = std::ranges::all_of(lists, flushes);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (lists[i] != right[i]) diagnose_list(lists[i], right[i], size.micro_batches, all_flush);
      got += fmt::format("\n  rank {}: {}", i, text(lists[i]));
    }
    ADD_FAILURE() << fmt::format("{}, p = {}, m = {}: {}. The lists are{}", kind, size.ranks,
                                 size.micro_batches, what, got);
    return;
  }
}

}  // namespace lab20
