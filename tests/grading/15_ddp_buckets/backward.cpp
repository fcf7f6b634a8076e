// Lab 15, part 3: what a backward sends, when, and with which result.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "support.h"

namespace lab15 {
namespace {

using judge::misconception;

// Each backward's values; the tasks of all ranks.
struct Backwards {
  std::vector<Values> values;
  std::vector<Json> tasks;
};

Backwards draw_backwards(judge::Random& random, int ranks, int backwards, const Play& play) {
  Backwards drawn;
  for (int i = 0; i < backwards; ++i) drawn.values.push_back(draw_values(random, ranks, play.model));
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    drawn.tasks.push_back(task_of("backward", play, rank));
    drawn.tasks.back()["fails_after"] = 0;
    for (const Values& values : drawn.values) drawn.tasks.back()["backwards"].push_back(values[rank]);
  }
  return drawn;
}

// Whether everything is right except what is sent.
// `diagnose`: what wrong means show.
bool backwards_are_right(const judge::SimRun& done, const Backwards& drawn, const Play& play,
                         const std::string& before = "", const std::function<void()>& diagnose = {}) {
  const auto replies = answers(done);
  if (replies.empty()) return false;
  for (std::size_t i = 0; i < drawn.values.size(); ++i) {
    std::vector<Json> ends;
    for (const auto& reply : replies) ends.push_back(reply.at(i));
    if (!are_means(ends, drawn.values[i], play.model, fmt::format("after {}backward {}", before, i + 1),
                   diagnose))
      return false;
  }
  return true;
}

std::vector<std::uint64_t> bytes_of(const std::vector<Call>& calls) {
  std::vector<std::uint64_t> bytes;
  for (const Call& call : calls) bytes.push_back(call.bytes);
  return bytes;
}

void diagnose_calls(const std::vector<std::uint64_t>& got, const std::vector<std::uint64_t>& right,
                    std::size_t gradients) {
  if (std::ranges::is_permutation(got, right)) {
    misconception("launches_in_ready_order",
                  "the buckets were launched as they became full, which is another order on another rank; "
                  "fix: launch them in the order of the list");
  } else if (got.size() == gradients) {
    misconception("an_all_reduce_for_each_gradient",
                  "every gradient has an all_reduce of its own, and each costs the overhead of a message; "
                  "fix: launch one all_reduce per bucket");
  } else if (got.size() == 1) {
    misconception("one_all_reduce_for_all",
                  "one all_reduce moves all buckets together; fix: launch each bucket by itself, so that the "
                  "first one is sent before the last one is complete");
  }
}

// How long one all_reduce takes if the ranks have nothing else to do.
double seconds_of_all_reduce(int ranks, std::int64_t count) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.topology = "10gbe";
  const auto seconds = [&](int times) {
    return judge::simulate_own(options,
                               [&](int) {
                                 dist::init_process_group();
                                 auto t = dist::zeros({count});
                                 for (int i = 0; i < times; ++i) dist::all_reduce(t, dist::ReduceOp::avg);
                               })
        .virtual_time_s;
  };
  return seconds(1) - seconds(0);
}

// What an overlap can gain: a bucket starts when its last gradient is ready and the bucket before has
// arrived.
struct Times {
  double computation = 0, communication = 0, last_bucket = 0, perfect = 0;
};
Times times_of(const Play& play, int ranks) {
  Times times;
  for (std::size_t bucket = 0; bucket < play.model.buckets.size(); ++bucket) {
    for (const std::size_t i : play.model.buckets[bucket]) times.computation += play.seconds[i];
    times.last_bucket = seconds_of_all_reduce(ranks, play.model.count_of(bucket));
    times.communication += times.last_bucket;
    times.perfect = std::max(times.perfect, times.computation) + times.last_bucket;
  }
  return times;
}

std::string in_us(double seconds) { return fmt::format("{:.0f} us", 1e6 * seconds); }

void diagnose_time(double took, const judge::SimRun& done, const Times& times) {
  const auto calls = calls_of(done, 0);
  if (!calls.empty() && calls.front().at >= 0.99 * times.computation) {
    misconception("launches_at_the_end",
                  "the first bucket is launched when the whole backward is over; fix: launch it as soon as "
                  "its own gradients are ready");
  } else if (took > 0.97 * (times.computation + times.communication)) {
    misconception("waits_inside_the_hook",
                  "backward waits while a bucket is in flight; fix: let ready() only launch (.async_op = "
                  "true) and keep the Work, and let finish() wait");
  }
}

}  // namespace

void expect_means(judge::Random& random, int ranks, int backwards, const Play& play) {
  auto drawn = draw_backwards(random, ranks, backwards, play);
  if (!backwards_are_right(run(drawn.tasks, play.timed), drawn, play)) return;
  for (Json& task : drawn.tasks) task["fails_after"] = play.model.buckets.front().size() + 1;
  const auto done = run(drawn.tasks, play.timed);
  // Alone, the same backwards were right.
  const auto goes_on = [] {
    misconception("goes_on_with_a_failed_backward",
                  "a backward that comes after one that has failed half-way goes wrong: something of the "
                  "failed one still counts; fix: let start() set everything anew: `launched`, and "
                  "`pending` of every bucket");
  };
  if (!done.report.findings.empty() || !done.report.failures.empty()) goes_on();
  backwards_are_right(done, drawn, play, "a failed one and ", goes_on);
}

void expect_calls(judge::Random& random, int ranks, const Play& play) {
  const auto drawn = draw_backwards(random, ranks, 1, play);
  const auto done = run(drawn.tasks, play.timed);
  if (!backwards_are_right(done, drawn, play)) return;
  std::vector<std::uint64_t> right;
  for (std::size_t bucket = 0; bucket < play.model.buckets.size(); ++bucket)
    right.push_back(play.model.bytes_of(bucket));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto got = bytes_of(calls_of(done, rank));
    if (got == right) continue;
    diagnose_calls(got, right, play.model.counts.size());
    ADD_FAILURE() << fmt::format(
        "rank {} of {} must call one all_reduce per bucket, with {{{}}} bytes in this order; it called "
        "all_reduces with {{{}}} bytes",
        rank, ranks, fmt::join(right, ", "), fmt::join(got, ", "));
    return;
  }
}

void expect_overlap(judge::Random& random, int ranks, double share) {
  constexpr int count = 12'000;
  Play play{.model = draw_model(random, {1, 2, 2, 2, 2}, count), .timed = true};
  const auto gradients = play.model.counts.size();
  play.seconds.assign(gradients, 1);
  const double each = times_of(play, ranks).communication / (share * static_cast<double>(gradients));
  for (double& seconds : play.seconds) seconds = 0.01 * random.between(80, 120) * each;
  const auto drawn = draw_backwards(random, ranks, 1, play);
  const auto done = run(drawn.tasks, true);
  if (!backwards_are_right(done, drawn, play)) return;
  const Times times = times_of(play, ranks);
  for (int rank = 0; rank < ranks; ++rank)
    if (!judge::has_computed(done, rank, times.computation)) return;
  const double took = done.report.virtual_time_s;
  if (times.perfect >= 0.9 * took) return;
  diagnose_time(took, done, times);
  ADD_FAILURE() << fmt::format(
      "a backward on {} ranks, {} of computation and {} buckets that take {} by themselves: it may take {} "
      "(with perfect overlap it takes {}); it took {}",
      ranks, in_us(times.computation), play.model.buckets.size(), in_us(times.communication),
      in_us(times.perfect / 0.9), in_us(times.perfect), in_us(took));
}

}  // namespace lab15
