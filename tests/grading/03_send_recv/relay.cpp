// Lab 03, part 1: the relay.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab03 {
namespace {

using judge::misconception;

Values times(const Values& values, double factor) {
  Values all;
  for (const float value : values) all.push_back(static_cast<float>(value * factor));
  return all;
}

Trial make_relay(Random& random, int ranks, int length) {
  Trial trial{.call = "relay"};
  for (int rank = 0; rank < ranks; ++rank) {
    trial.tasks.push_back({{"call", "relay"}, {"t", packed(draw(random, length))}});
    if (rank > 0) trial.links.emplace_back(rank - 1, rank);
  }
  return trial;
}

// The last rank also sends: to a rank that does not exist, or to one that does not expect it.
void diagnose_a_failure(const Trial& trial, const judge::SimRun& run) {
  if (!is_written(run)) return;
  const int last = trial.ranks() - 1;
  const auto stuck = blocked(run);
  const auto& failures = run.report.failures;
  const auto names = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  const bool sends_beyond = stuck.empty() && !failures.empty() && failures.front().rank == last &&
                            names(failures.front().what, "send") &&
                            names(failures.front().what, fmt::format("{}", last + 1));
  const bool sends_round = last > 0 && stuck.contains(last) && stuck.at(last) == "send";
  if (sends_beyond || sends_round) {
    misconception(
        "off_by_one_peer",
        "the last rank sends as well, but no rank comes after it; fix: send on ranks below n - 1 only");
  } else if (stuck.contains(0) && stuck.at(0) == "recv") {
    misconception("everybody_receives_first",
                  "every rank receives first, so no rank ever sends; fix: let rank 0, which has no rank "
                  "before it, begin by sending");
  }
}

void diagnose_numbers(const Values& start, const std::vector<Values>& got) {
  const auto all_are = [&](auto factor) {
    for (std::size_t rank = 1; rank < got.size(); ++rank) {
      if (got[rank] != times(start, factor(static_cast<int>(rank)))) return false;
    }
    return got.size() > 2;  // with fewer ranks all ideas look the same
  };
  if (all_are([](int) { return 2.0; })) {
    misconception("doubles_after_sending",
                  "each rank passes on what it has received and doubles only its own copy afterwards; fix: "
                  "double first, then send");
  } else if (all_are([](int rank) { return std::exp2(rank + 1); })) {
    misconception(
        "rank_0_doubles_too",
        "rank 0's number is doubled as well; fix: start the relay on rank 0 with the tensor as it is");
  } else if (all_are([](int rank) { return std::exp2(rank - 1); })) {
    misconception(
        "doubles_for_the_next_only",
        "each rank holds what it received, not twice that; fix: double the tensor itself and pass it on");
  } else if (all_are([](int) { return 1.0; })) {
    misconception("never_doubles",
                  "the numbers are passed on unchanged; fix: double them on every rank except rank 0");
  }
}

bool check(const Trial& trial, const Values& start, Sends sends) {
  const auto done = run(trial, sends);
  diagnose_a_failure(trial, done);
  const auto replies = answers(trial, done);
  std::vector<Values> got;
  for (const Json& reply : replies) got.push_back(unpacked(reply.value("t", Json("none"))));
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const auto expected = times(start, std::exp2(static_cast<int>(rank)));
    if (got[rank] == expected) continue;
    diagnose_numbers(start, got);
    ADD_FAILURE() << fmt::format("{}rank 0 began with {}, so rank {} must hold {}; it holds {}", done.about,
                                 shown(start), rank, shown(expected), shown(got[rank]));
    return false;
  }
  return !got.empty();
}

}  // namespace

void expect_relay(Random& random, int ranks, int length) {
  const auto trial = make_relay(random, ranks, length);
  const auto start = unpacked(trial.tasks.front().at("t"));
  for (const auto sends : {Sends::wait, Sends::eager}) {
    if (!check(trial, start, sends)) return;
  }
}

}  // namespace lab03
