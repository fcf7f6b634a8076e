// Lab 05, parts 1 to 3: what the ranks have after a broadcast.
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab05 {
namespace {

// What a rank would have after one of the rounds if an idea were right.
using Expected = std::function<Numbers(const Round&, int rank)>;

struct Idea {
  const char* name;
  const char* in_words;
  Expected numbers;
};

int whole_segments(const Round& round) { return round.elements() / round.segment * round.segment; }

const Numbers& of_root(const Round& round) { return round.before[static_cast<std::size_t>(round.root)]; }
const Numbers& of_rank(const Round& round, int rank) { return round.before[static_cast<std::size_t>(rank)]; }

Numbers first_of_root(const Round& round, int rank, int count) {
  if (rank == round.root) return of_root(round);
  auto numbers = of_rank(round, rank);
  std::copy_n(of_root(round).begin(), count, numbers.begin());
  return numbers;
}

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known{
      {"root_0_assumed", "all ranks have rank 0's data, whichever rank is the root",
       [](const Round& r, int) { return of_rank(r, 0); }},
      {"nothing_arrives", "every rank still has its own data: nothing was received into the tensor",
       [](const Round& r, int rank) { return of_rank(r, rank); }},
      {"last_segment_dropped",
       "the full segments arrived, but the rest after them did not; fix: send them as a smaller last segment",
       [](const Round& r, int rank) { return first_of_root(r, rank, whole_segments(r)); }},
      {"first_segment_only", "the first segment arrived, the others did not",
       [](const Round& r, int rank) { return first_of_root(r, rank, std::min(r.segment, r.elements())); }},
      {"power_of_two_assumed",
       "the tree stops at the highest power of two below n, so the ranks beyond it receive nothing; fix: "
       "continue while distance < n, and leave out children that do not exist",
       [](const Round& r, int rank) {
         const int n = static_cast<int>(r.before.size()), reached = 1 << (ceil_log2(n + 1) - 1);
         return place_of(rank, r.root, n) < reached ? of_root(r) : of_rank(r, rank);
       }}};
  return known;
}

Numbers numbers_in(const Json& reply, std::size_t i) { return reply.at(i).at("numbers").get<Numbers>(); }

// Another root's numbers are in the place of this one's.
bool has_one_of_another_call(const Asked& asked, const std::vector<Json>& replies) {
  for (const auto& reply : replies) {
    for (std::size_t i = 0; i < asked.rounds.size(); ++i) {
      const auto got = numbers_in(reply, i);
      const auto is_its = [&](const Round& other) { return of_root(other) == got; };
      if (!got.empty() && !is_its(asked.rounds[i]) && std::ranges::any_of(asked.rounds, is_its)) return true;
    }
  }
  return false;
}

void diagnose(const Asked& asked, const std::vector<Json>& replies) {
  for (const auto& idea : ideas()) {
    bool fits = true;
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      for (std::size_t i = 0; i < asked.rounds.size(); ++i) {
        fits = fits && numbers_in(replies[rank], i) == idea.numbers(asked.rounds[i], static_cast<int>(rank));
      }
    }
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
  if (has_one_of_another_call(asked, replies)) judge::calls_mixed();
}

judge::SimRun run(const Asked& asked, bool eager, const std::string& topology,
                  const std::string& schedule = "", const judge::Watch& sent = {}) {
  judge::SimPlan plan;
  plan.sent = sent;
  plan.eager = eager;
  plan.topology = topology;
  plan.schedule = schedule;
  for (int rank = 0; rank < asked.world_size(); ++rank) {
    Json task{{"call", asked.call}, {"rounds", Json::array()}, {"group", asked.group}};
    for (const auto& round : asked.rounds) {
      const auto delay = round.delays_us.empty() ? 0 : round.delays_us.at(static_cast<std::size_t>(rank));
      task["rounds"].push_back({{"root", round.root},
                                {"delay_us", delay},
                                {"numbers", of_rank(round, rank)},
                                {"segment", round.segment},
                                {"dtype", round.dtype},
                                {"shape", round.shape},
                                {"offset", round.offset()}});
    }
    plan.tasks.push_back(task);
  }
  return judge::simulate(plan);
}

void went_through_f32() {
  judge::misconception(
      "went_through_f32",
      "the numbers were rounded to f32; fix: send the tensor as it is, because a message takes any dtype");
}

std::string of_chain(const Asked& asked, const Round& round) {
  return asked.call == "chain_broadcast" ? fmt::format(", segment {}", round.segment) : "";
}

std::string of_tensor(const Round& round) {
  if (round.dtype == "f32") return "";
  return fmt::format(", a tensor of {} with the shape [{}] and {:.0f} added to each element", round.dtype,
                     fmt::join(round.shape, ", "), round.offset());
}

// Whether all ranks have the right values. Reports the first difference.
bool check(const Asked& asked, const std::vector<Json>& replies, bool eager) {
  if (replies.empty() || !are_in_place(replies, asked.call)) return false;
  for (std::size_t i = 0; i < asked.rounds.size(); ++i) {
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const auto& round = asked.rounds[i];
      if (!asked.is_member(static_cast<int>(rank))) continue;
      const auto got = numbers_in(replies[rank], i);
      if (got == of_root(round)) continue;
      if (round.dtype != "f32" && got == Numbers(got.size(), 0)) went_through_f32();
      diagnose(asked, replies);
      ADD_FAILURE() << fmt::format(
          "{} among {} ranks from root {}{}{}: expected the root's {} on rank {}; it has {} and had {} "
          "before ({})",
          asked.call, asked.world_size(), round.root, of_chain(asked, round) + of_tensor(round),
          eager ? ", with eager sends" : "", text(of_root(round)), rank, text(got),
          text(of_rank(round, static_cast<int>(rank))), difference(of_root(round), got));
      return false;
    }
  }
  return true;
}

// An error of a rank does not show in which call it happened.
void tell_the_call(const Asked& asked, bool eager) {
  std::vector<std::string> rounds;
  for (const auto& round : asked.rounds)
    rounds.push_back(fmt::format("root {} ({} elements)", round.root, round.elements()));
  ADD_FAILURE() << fmt::format("this happened in {} among {} ranks{}, from {}", asked.call,
                               asked.world_size(), eager ? " with eager sends" : "",
                               fmt::join(rounds, ", then "));
}

}  // namespace

void expect_broadcasts(const Asked& asked) {
  for (const bool eager : {false, true}) {
    const auto done = run(asked, eager, "laptop");
    const auto replies = answers(done, asked.call);
    if (replies.empty() && !judge::is_todo(done.ranks[0].reply)) tell_the_call(asked, eager);
    if (!check(asked, replies, eager)) return;
  }
}

bool is_right(const std::string& call, const Round& round) {
  for (const bool eager : {false, true}) {
    const auto done = run({call, {round}}, eager, "laptop");
    if (!done.report.ok() || !done.built_ins.empty()) return false;
    for (const auto& rank : done.ranks) {
      if (!rank.completed || judge::is_error(rank.reply)) return false;
      const auto& seen = rank.reply.at("value").at(0);
      if (!seen.at("same_memory") || numbers_in(rank.reply.at("value"), 0) != of_root(round)) return false;
    }
  }
  return true;
}

void expect_in_a_group(const Asked& asked) {
  const auto done = run(asked, false, "laptop");
  const auto ignored = [&] {
    judge::misconception(
        "ignores_the_group",
        "in a group whose group ranks and size differ from the world's, the function used those of the "
        "world; fix: pass .group to every call, and count with get_rank(group) and get_world_size(group)");
  };
  if (!done.report.findings.empty() || !done.report.failures.empty()) ignored();
  const auto replies = answers(done, asked.call, {"new_group"});
  for (std::size_t rank = 0; rank < replies.size(); ++rank)
    for (std::size_t i = 0; i < asked.rounds.size() && asked.is_member(static_cast<int>(rank)); ++i)
      if (numbers_in(replies[rank], i) != of_root(asked.rounds[i])) ignored();
  if (!check(asked, replies, false))
    ADD_FAILURE() << fmt::format("this happened in a group of the ranks {} of {}",
                                 fmt::join(asked.group, ", "), asked.world_size());
}

void expect_calls_apart(judge::Random& random, Asked asked) {
  for (const auto& overlap : judge::overlaps(random, asked.world_size())) {
    for (auto& round : asked.rounds) round.delays_us = overlap.delays_us;
    const auto done = run(asked, false, "laptop", overlap.schedule);
    const auto replies = answers(done, asked.call);
    if (replies.empty() && !judge::is_todo(done.ranks[0].reply)) tell_the_call(asked, false);
    if (check(asked, replies, false)) continue;
    ADD_FAILURE() << "this happened in calls in a row" << overlap.text;
    return;
  }
}

bool run_in_rounds(const Asked& asked, judge::SimRun& done, const judge::Watch& sent) {
  done = run(asked, false, "rounds", "", sent);
  return check(asked, answers(done, asked.call), false);
}

}  // namespace lab05
