// Lab 17, part 4: the mean loss.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab17 {
namespace {

using judge::misconception;

struct PlayedLosses {
  std::vector<std::vector<double>> sums;  // [round][number along the axis]
  judge::SimRun done;
  std::vector<Json> replies;
};

// This rank's number along the data axis.
std::size_t number_along(const Data& data, int rank) {
  const Ints line = right_slice(data.grid, data.axis.axes, rank);
  return static_cast<std::size_t>(std::ranges::find(line, rank) - line.begin());
}

PlayedLosses play_losses(judge::Random& random, const Data& data) {
  PlayedLosses played;
  for (const auto& tokens : data.tokens) {
    played.sums.emplace_back();
    for (const std::int64_t count : tokens)
      played.sums.back().push_back(static_cast<double>(count) * random.between(1000, 9000) / 1024);
  }
  std::vector<Json> tasks;
  for (int rank = 0; rank < static_cast<int>(data.grid.ranks.size()); ++rank) {
    const std::size_t number = number_along(data, rank);
    Json task{{"call", "mean_loss"},
              {"grid", as_json(data.grid)},
              {"flattened", Json::array()},
              {"data", data.axis.name},
              {"rounds", Json::array()}};
    if (data.axis.axes.size() > 1)
      task["flattened"].push_back({{"axes", data.axis.axes}, {"name", data.axis.name}});
    for (std::size_t round = 0; round < data.tokens.size(); ++round)
      task["rounds"].push_back({{"sum", played.sums[round][number]}, {"tokens", data.tokens[round][number]}});
    tasks.push_back(task);
  }
  played.done = run(tasks, fmt::format("a mesh of {}, data along {}", text(data.grid), data.axis.name));
  played.replies = answers(played.done);
  return played;
}

void diagnose_loss(const std::vector<double>& sums, const std::vector<std::int64_t>& tokens,
                   std::size_t number, std::size_t ranks, double mean, std::int64_t count) {
  const auto n = static_cast<double>(tokens.size());
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  const auto all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  double means = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) means += sums[i] / static_cast<double>(tokens[i]) / n;
  const auto own = static_cast<double>(tokens[number]);
  const auto copies = static_cast<std::int64_t>(ranks / tokens.size());
  if (are_near(mean, means) || (std::isnan(mean) && std::isnan(means)))
    misconception(
        "mean_of_means",
        "this is the mean of the ranks' means, in which a token of a rank with few tokens counts more; "
        "fix: add up sums and numbers, and divide once");
  else if (are_near(mean, sum / n / own) || are_near(mean, sum / own))
    misconception(
        "divides_by_its_own_tokens",
        "the sum of all ranks was divided by this rank's number of tokens; fix: add up the numbers, "
        "too");
  else if (are_near(mean, sums[number] / own))
    misconception("mean_of_its_own_tokens",
                  "this is the mean over this rank's own tokens; fix: all tokens along the data axis count");
  else if (copies > 1 && (count == copies * all ||
                          are_near(mean, static_cast<double>(copies) * sum / static_cast<double>(all))))
    misconception(
        "counts_every_rank",
        "the tokens were summed over all ranks, but ranks that differ along other axes have the SAME "
        "tokens; fix: sum in the group of the data axis only");
  else if (are_near(mean, sum / static_cast<double>(all)) && count == all / static_cast<std::int64_t>(n))
    misconception("averages_the_tokens",
                  "the mean is right, but the number of tokens is divided by the number of ranks; fix: "
                  "ReduceOp::sum, not avg");
  else if (are_near(mean, sum / static_cast<double>(all)) && count == tokens[number])
    misconception("counts_its_own_tokens",
                  "the mean is right, but the number of tokens is this rank's own; fix: return the sum");
  else if (are_near(mean, sum / static_cast<double>(all), keeps_f32) &&
           are_near(static_cast<double>(count), static_cast<double>(all), keeps_f32))
    misconception("single_precision",
                  "the result has the digits of f32, which cannot represent 2^24 + 1 tokens; fix: send f64");
}

bool losses_are_right(const Data& data, const PlayedLosses& played) {
  for (std::size_t rank = 0; rank < played.replies.size(); ++rank) {
    const std::size_t number = number_along(data, static_cast<int>(rank));
    for (std::size_t round = 0; round < data.tokens.size(); ++round) {
      const auto& tokens = data.tokens[round];
      const auto& sums = played.sums[round];
      const auto all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
      const double right = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(all);
      const Json& reply = played.replies[rank].at("losses").at(round);
      const double mean = number_of(reply.at("mean"));
      const std::int64_t count = reply.at("tokens");
      if (are_near(mean, right) && count == all) continue;
      diagnose_loss(sums, tokens, number, played.replies.size(), mean, count);
      ADD_FAILURE() << fmt::format(
          "a mesh of {}; along {} the sums are {} and the numbers of tokens {}: the mean must be {}, of {} "
          "tokens; on rank {} it is {}, of {}",
          text(data.grid), data.axis.name, fmt::join(sums, ", "), fmt::join(tokens, ", "), right, all, rank,
          mean, count);
      return false;
    }
  }
  return !played.replies.empty();
}

}  // namespace

void expect_losses(judge::Random& random, const Data& data) {
  losses_are_right(data, play_losses(random, data));
}

void expect_one_exchange(judge::Random& random, const Data& data) {
  const auto played = play_losses(random, data);
  if (!losses_are_right(data, played)) return;
  const auto rounds = data.tokens.size();
  for (std::size_t rank = 0; rank < played.replies.size(); ++rank) {
    const std::uint32_t right = played.replies[rank].at("groups").at(data.axis.name).at("context");
    const auto calls = reductions(played.done, static_cast<int>(rank));
    for (const auto& [context, bytes] : calls) {
      if (context == right) continue;
      misconception("another_group",
                    "an all_reduce went over ranks that have the same tokens; fix: use the group of the data "
                    "axis only");
      ADD_FAILURE() << fmt::format("a mesh of {}, rank {}: the all_reduce must be in the group of {}",
                                   text(data.grid), rank, data.axis.name);
      return;
    }
    const bool has_bytes = std::ranges::all_of(calls, [](const Reduction& call) { return call.bytes == 16; });
    if (calls.size() == rounds && has_bytes) continue;
    if (calls.size() > rounds)
      misconception(
          "an_exchange_for_each_number",
          "the sum and the number of tokens were sent by themselves, and the time of a small exchange "
          "is its latency; fix: put both into one tensor");
    ADD_FAILURE() << fmt::format(
        "a mesh of {}, rank {}: {} losses need {} all_reduces of 16 bytes; there were {}{}", text(data.grid),
        rank, rounds, rounds, calls.size(), has_bytes ? "" : ", of other sizes");
    return;
  }
}

}  // namespace lab17
