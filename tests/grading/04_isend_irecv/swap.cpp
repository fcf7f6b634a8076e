// Lab 04, parts 1 and 2: both directions at once, and a computation at the same time.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab04 {
namespace {

using judge::misconception;

using Numbers = std::vector<double>;

// Whether the answer of one rank is right. Reports the first difference.
struct Swapped {
  std::string call;
  int rank, partner, world_size;
  Numbers mine, theirs;  // the right values

  bool check(const Json& answer) const {
    const auto who = fmt::format("rank {} of {}, partner {}", rank, world_size, partner);
    if (answer.at("mine") != Json(mine)) {
      misconception("changes_its_input", "the tensor that is sent must not change");
      ADD_FAILURE() << fmt::format("{}: it sends {}; after {} that tensor holds {}", who, shown(mine), call,
                                   shown(answer.at("mine")));
      return false;
    }
    if (answer.at("theirs") != Json(theirs)) {
      if (answer.at("theirs") == Json(mine))
        misconception("gets_its_own", "this is what the rank itself has sent; fix: receive from the partner");
      ADD_FAILURE() << fmt::format(
          "{}: after {} the received tensor must hold {}; it holds {} (-1: nothing arrived)", who, call,
          shown(theirs), shown(answer.at("theirs")));
      return false;
    }
    if (call == "overlap" && answer.at("calls") != 1) {
      misconception("computes_twice_or_never", "compute() is the caller's work, so it must run exactly once");
      ADD_FAILURE() << fmt::format("{}: compute() must run once; it ran {} times", who,
                                   answer.at("calls").get<int>());
      return false;
    }
    return true;
  }
};

// Two ranks with large messages.
std::vector<Json> long_tasks(const std::string& call, double seconds) {
  std::vector<Json> tasks;
  for (const int rank : {0, 1})
    tasks.push_back(
        {{"call", call}, {"partner", 1 - rank}, {"count", many}, {"value", rank + 1}, {"seconds", seconds}});
  return tasks;
}

bool long_answers_are_right(const std::string& call, const judge::SimRun& done) {
  const auto replies = answers(done);
  const auto at_both_ends = [](int rank) { return Numbers(2, rank + 1); };
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const Swapped right{call, rank, 1 - rank, 2, at_both_ends(rank), at_both_ends(1 - rank)};
    if (!right.check(replies[static_cast<std::size_t>(rank)])) return false;
  }
  return !replies.empty();
}

// Whether the first message was started only after the computation of rank 0 had ended.
bool starts_late(const judge::SimRun& done) {
  std::int64_t first_call = INT64_MAX, computed = INT64_MAX;
  for (const auto& event : done.report.trace.events) {
    if (event.rank != 0) continue;
    if (event.kind == dist::trace::Kind::call) first_call = std::min(first_call, event.begin);
    if (event.kind == dist::trace::Kind::compute) computed = std::min(computed, event.end);
  }
  return first_call >= computed;
}

}  // namespace

std::vector<int> draw_partners(judge::Random& random, int world_size) {
  std::vector<int> order;
  for (int rank = 0; rank < world_size; ++rank) order.push_back(rank);
  random.shuffle(order);
  std::vector<int> partners = order;  // of the right size
  for (std::size_t i = 0; i < order.size(); i += 2) {
    const int one = order[i], other = order[std::min(i + 1, order.size() - 1)];
    partners[static_cast<std::size_t>(one)] = other;
    partners[static_cast<std::size_t>(other)] = one;
  }
  return partners;
}

void expect_swapped(judge::Random& random, const std::string& call, const std::vector<int>& partners,
                    int length, const How& how) {
  std::vector<Json> tasks;
  for (const int partner : partners) {
    tasks.push_back({{"call", call},
                     {"partner", partner},
                     {"values", small_numbers(random, length)},
                     {"seconds", 1e-6 * random.between(0, 20)}});
  }
  const auto replies = answers(run(tasks, how));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const auto partner = static_cast<std::size_t>(partners[rank]);
    const Swapped right{call,
                        static_cast<int>(rank),
                        partners[rank],
                        static_cast<int>(partners.size()),
                        tasks[rank].at("values"),
                        tasks[partner].at("values")};
    if (!right.check(replies[rank])) return;
  }
}

void expect_swap_time(const How& how) {
  const auto done = run(long_tasks("swap_with", 0), how);
  if (!long_answers_are_right("swap_with", done)) return;
  const double once = transfer_seconds();
  expect_within(done, once, "both directions at once take as long as one direction",
                {{"one_direction_after_the_other",
                  "first one rank's message is sent, then the other's: this is right, but it takes twice as "
                  "long; fix: start the receive and the send, and only then wait",
                  2 * once}});
}

void expect_overlap_time(double computation_seconds, const How& how) {
  const auto done = run(long_tasks("overlap", computation_seconds), how);
  if (!long_answers_are_right("overlap", done)) return;
  const double once = transfer_seconds();
  const SlowIdea late{"starts_after_the_computation",
                      "the messages are started after compute() has ended; fix: start them before it",
                      computation_seconds + once};
  const SlowIdea early{"waits_at_once",
                       "the computation and the transfer run one after the other, because a wait() comes "
                       "before compute(); fix: wait for a Work only when its tensor is needed",
                       computation_seconds + once};
  expect_within(done, std::max(computation_seconds, once),
                fmt::format("max(computation {}, transfer {})", in_us(computation_seconds), in_us(once)),
                {starts_late(done) ? late : early,
                 {"one_direction_after_the_other",
                  "the two directions do not run at the same time; fix: start both before compute()",
                  std::max(computation_seconds, once) + once}});
}

}  // namespace lab04
