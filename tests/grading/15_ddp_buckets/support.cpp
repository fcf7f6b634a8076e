// Lab 15: what parts 3 to 5 share.
#include "support.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab15 {
namespace {

using dist::check::Code, judge::misconception;

constexpr double ps_per_s = 1e12;

void diagnose(const dist::check::Finding& finding) {
  if (finding.code == Code::mismatched_collective || finding.code == Code::misfit_message) {
    misconception(
        "launches_in_ready_order",
        "two ranks launch their buckets in different orders, so different buckets are added to each other; "
        "fix: launch them in the order of the list, and let a bucket that is full early wait");
  } else if (finding.code == Code::read_before_wait || finding.code == Code::changed_before_wait ||
             finding.code == Code::overlap) {
    misconception("launches_before_all_are_there",
                  "a bucket's memory was touched while it was in flight: it was launched before its last "
                  "gradient was ready, or twice, or finish() did not wait for it; fix: launch each bucket "
                  "once, after its last gradient, and wait for it before its memory is used");
  } else if (finding.code == Code::never_waited) {
    misconception(
        "forgets_a_wait",
        "a bucket was launched and never waited for; fix: keep each Work, and wait for all of them");
  } else if (finding.code == Code::deadlock) {
    misconception(
        "not_all_launch_it",
        "one rank launches a bucket that another rank never launches; fix: launch every bucket once on every "
        "rank; launch a bucket that was full before its turn right after the bucket for which it waited");
  }
}

// The gradients according to a wrong idea: first elements on all ranks.
struct MeanIdea {
  const char *name, *in_words;
  double (*value)(const std::vector<double>& of_ranks, std::size_t rank);
};

double sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

const std::vector<MeanIdea>& mean_ideas() {
  static const std::vector<MeanIdea> known{
      {"sums_without_averaging",
       "this is the sum over the ranks, not the mean; fix: use ReduceOp::avg, which divides by their number",
       [](const std::vector<double>& v, std::size_t) { return sum(v); }},
      {"divides_twice",
       "the sum is divided twice, which makes the step n times too small; fix: do not divide after "
       "ReduceOp::avg",
       [](const std::vector<double>& v, std::size_t) {
         return sum(v) / static_cast<double>(v.size() * v.size());
       }},
      {"never_launched",
       "this is the rank's own gradient, so no bucket was launched; fix: check that the counts start anew in "
       "each backward, and that a bucket is launched when its count reaches 0",
       [](const std::vector<double>& v, std::size_t rank) { return v[rank]; }}};
  return known;
}

bool is_near(double right, double got) { return std::abs(got - right) <= 1e-6 * (1 + std::abs(right)); }

std::vector<double> of_ranks(const Values& values, std::size_t gradient) {
  std::vector<double> all;
  for (const auto& of_rank : values) all.push_back(of_rank[gradient]);
  return all;
}

void diagnose(const std::vector<Json>& ends, const Values& values) {
  for (const MeanIdea& idea : mean_ideas()) {
    bool fits = true;
    for (std::size_t rank = 0; rank < ends.size(); ++rank)
      for (std::size_t i = 0; i < values[rank].size(); ++i)
        fits = fits && is_near(idea.value(of_ranks(values, i), rank), ends[rank].at(i).at(0));
    if (fits) return misconception(idea.name, idea.in_words);
  }
}

}  // namespace

std::int64_t Model::count_of(std::size_t bucket) const {
  std::int64_t count = 0;
  for (const std::size_t i : buckets[bucket]) count += counts[i];
  return count;
}

Model draw_model(judge::Random& random, const std::vector<int>& members, int count, bool even) {
  Model model;
  model.counts.resize(static_cast<std::size_t>(std::accumulate(members.begin(), members.end(), 0)));
  auto next = model.counts.size();
  for (std::size_t bucket = 0; bucket < members.size(); ++bucket) {
    model.buckets.emplace_back();
    for (int i = 0; i < members[bucket]; ++i) {
      model.buckets.back().push_back(--next);
      model.counts[next] = even ? count : count + random.between(0, count / 8);
    }
    const auto alike = [&](std::size_t other) { return model.count_of(other) == model.count_of(bucket); };
    for (std::size_t other = 0; !even && other < bucket; ++other)
      if (alike(other)) ++model.counts[next], other = 0;
  }
  return model;
}

Values draw_values(judge::Random& random, int ranks, const Model& model) {
  Values values(static_cast<std::size_t>(ranks));
  for (auto& of_rank : values)
    for (std::size_t i = 0; i < model.counts.size(); ++i) of_rank.push_back(random.between(1, 1000));
  return values;
}

Json task_of(const std::string& call, const Play& play, std::size_t rank) {
  const auto gradients = play.model.counts.size();
  std::vector<std::size_t> order;
  for (auto i = gradients; i-- > 0;) order.push_back(i);
  if (!play.orders.empty()) order = play.orders[rank];
  const auto seconds = play.seconds.empty() ? std::vector<double>(gradients, 0) : play.seconds;
  return {{"call", call},
          {"counts", play.model.counts},
          {"buckets", play.model.buckets},
          {"order", order},
          {"seconds", seconds}};
}

judge::SimRun run(const std::vector<Json>& tasks, bool timed) {
  judge::SimPlan plan;
  plan.tasks = tasks;
  if (timed) plan.topology = "10gbe";
  plan.trace = true;
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose(finding);
  return run.answers({"all_reduce"});
}

bool are_means(const std::vector<Json>& ends, const Values& values, const Model& model,
               const std::string& when, const std::function<void()>& diagnose_first) {
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    for (std::size_t i = 0; i < model.counts.size(); ++i) {
      const double mean = sum(of_ranks(values, i)) / static_cast<double>(values.size());
      const double first = ends[rank].at(i).at(0), last = ends[rank].at(i).at(1);
      const double right_last = mean + static_cast<double>((model.counts[i] - 1) % 3);
      if (is_near(mean, first) && is_near(right_last, last)) continue;
      if (diagnose_first) diagnose_first();
      diagnose(ends, values);
      ADD_FAILURE() << fmt::format(
          "{} ranks, {}: on rank {} gradient {} must begin with {} and end with {}, the means over the "
          "ranks; it begins with {} and ends with {}",
          ends.size(), when, rank, i, mean, right_last, first, last);
      return false;
    }
  }
  return true;
}

std::vector<Call> calls_of(const judge::SimRun& done, int rank) {
  std::vector<dist::trace::Event> events;
  for (const auto& event : done.report.trace.events)
    if (event.kind == dist::trace::Kind::call && event.rank == rank) events.push_back(event);
  std::ranges::stable_sort(events, {}, &dist::trace::Event::sequence);
  std::vector<Call> calls;
  for (const auto& event : events)
    calls.push_back({event.bytes, static_cast<double>(event.begin) / ps_per_s});
  return calls;
}

}  // namespace lab15
