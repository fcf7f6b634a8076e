// Lab 04, parts 1 and 2: both directions at once, and a computation at the same time.
#include <algorithm>
#include <utility>

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
      misconception("changes_its_input",
                    "the tensor that is sent must not change; fix: write only to the received one");
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
      misconception("computes_twice_or_never",
                    "compute() is the caller's work, so it must run exactly once; fix: call it in one place");
      ADD_FAILURE() << fmt::format("{}: compute() must run once; it ran {}", who,
                                   counted(answer.at("calls").get<int>(), "time"));
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

// While a large message is under way and nothing is to be computed, a rank is blocked in wait().
bool each_waits(const judge::SimRun& done) {
  for (int rank = 0; rank < static_cast<int>(done.ranks.size()); ++rank) {
    const auto is_blocked = [&](const auto& event) {
      return event.kind == dist::trace::Kind::wait && event.rank == rank;
    };
    if (std::ranges::any_of(done.report.trace.events, is_blocked)) continue;
    misconception("polls_instead_of_waiting",
                  "a loop over is_completed() keeps a core busy until the message has arrived, and nothing "
                  "throws the operation's error; fix: call wait() on each Work");
    ADD_FAILURE() << fmt::format(
        "swap_with: rank {} was never blocked in wait(), although its messages were under way for {}", rank,
        in_us(transfer_seconds()));
    return false;
  }
  return true;
}

// A rank receives from its partners, one after another. Whether a rank that is its own partner sends does not
// matter.
void diagnose_sources(const judge::SimRun& done, int rank, const std::vector<std::vector<int>>& partners) {
  std::vector<int> expected, got;
  for (const auto& of_swap : partners) {
    const int partner = of_swap[static_cast<std::size_t>(rank)];
    if (partner != rank) expected.push_back(partner);
  }
  for (const auto& event : done.report.trace.events)
    if (event.kind == dist::trace::Kind::receive && event.rank == rank && event.peer != rank)
      got.push_back(event.peer);
  expected.resize(std::min(expected.size(), got.size()));
  if (got == expected) return;
  misconception(
      "calls_mixed",
      "a message of another rank's call was taken for the partner's; fix: receive from the partner by "
      "its number, because a receive from any rank also takes what another rank sends for a later "
      "call");
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
  const auto replies =
      answers(run(fmt::format("{} on {}", call, counted(std::ssize(partners), "rank")), tasks, how));
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

void expect_swaps_apart(judge::Random& random, const std::string& call) {
  const int ranks = random.between(4, 6), swaps = 8;
  std::vector<std::vector<int>> partners;
  std::vector<Json> tasks(static_cast<std::size_t>(ranks), Json{{"call", "in_a_row"}});
  for (int k = 0; k < swaps; ++k) {
    partners.push_back(draw_partners(random, ranks));
    for (std::size_t rank = 0; rank < tasks.size(); ++rank)
      tasks[rank]["rounds"].push_back({{"call", call},
                                       {"partner", partners.back()[rank]},
                                       {"values", Numbers(3, 100 * k + static_cast<double>(rank))},
                                       {"seconds", 1e-6}});
  }
  for (const int late : {0, 1, 2, -1, -1}) {
    for (std::size_t rank = 0; rank < tasks.size(); ++rank)
      for (Json& round : tasks[rank]["rounds"]) round["delay"] = std::cmp_equal(rank, late) ? 1e-3 : 0.0;
    const auto what = fmt::format("{} swaps in a row with changing partners{}", swaps,
                                  late >= 0 ? fmt::format(", rank {} is late", late) : "");
    const auto schedule = late >= 0 ? std::string() : std::to_string(random.between(1, 1'000'000));
    const auto done = run(what, tasks, {.schedule = schedule});
    for (int rank = 0; rank < ranks; ++rank) diagnose_sources(done, rank, partners);
    const auto replies = answers(done);
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      for (std::size_t k = 0; k < partners.size(); ++k) {
        const auto partner = static_cast<std::size_t>(partners[k][rank]);
        const auto values = [&](std::size_t of) { return tasks[of].at("rounds").at(k).at("values"); };
        const Json& got = replies[rank].at(k);
        if (got.at("mine") == values(rank) && got.at("theirs") == values(partner)) continue;
        ADD_FAILURE() << fmt::format(
            "{}: after {} number {} with partner {}, rank {} must have received {}; it has {}", what, call, k,
            partner, rank, shown(values(partner)), shown(got.at("theirs")));
        return;
      }
    }
    if (replies.empty()) return;
  }
}

void expect_swap_time(const How& how) {
  const auto done = run("swap_with on 2 ranks", long_tasks("swap_with", 0), how);
  if (!long_answers_are_right("swap_with", done) || !each_waits(done)) return;
  const double once = transfer_seconds();
  expect_within(done, once, "both directions at once take as long as one direction",
                {{"one_direction_after_the_other",
                  "first one rank's message is sent, then the other's: this is right, but it takes twice as "
                  "long; fix: start the receive and the send, and only then wait",
                  2 * once}});
}

void expect_overlap_time(double computation_seconds, const How& how) {
  const auto done = run("overlap on 2 ranks", long_tasks("overlap", computation_seconds), how);
  if (!long_answers_are_right("overlap", done)) return;
  for (int rank = 0; std::cmp_less(rank, done.ranks.size()); ++rank)
    if (!judge::has_computed(done, rank, computation_seconds)) return;
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
