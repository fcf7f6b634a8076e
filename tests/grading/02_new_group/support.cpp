// Lab 02: what all parts share.
#include "support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab02 {
namespace {

using dist::check::Code, dist::check::Finding;

void diagnose_finding(const Finding& finding) {
  const auto says = [&](std::string_view words) { return finding.what.find(words) != std::string::npos; };
  bool in_new_group = says("new_group");
  for (const auto& party : finding.parties)
    in_new_group = in_new_group || party.doing.find("new_group") != std::string::npos;
  if (finding.code == Code::wrong_group && says("not a member")) {
    judge::misconception("used_by_a_non_member",
                         "every rank must create a group, but only its members may use it; fix: check "
                         "is_member() before the collective");
  } else if (in_new_group) {
    judge::misconception("groups_made_differently",
                         "the ranks do not create the same groups in the same order, but new_group is a call "
                         "of all ranks, members or not; fix: create every group on every rank, in one fixed "
                         "order (not only the rank's own group, and not its own first)");
  }
}

void diagnose_error(const std::string& error) {
  const auto says = [&](std::string_view words) { return error.find(words) != std::string::npos; };
  if (says("takes global ranks")) {
    judge::misconception(
        "group_rank_as_global_rank",
        "src is a global rank, also with .group: group rank 1 of a row is global rank 1 in the first row "
        "only; fix: convert it with the group's global_rank(), or pass .group_src");
  } else if (says(".group_src = ")) {
    judge::misconception("global_rank_as_group_rank",
                         ".group_src is a group rank, but a global rank was given");
  }
}

}  // namespace

judge::SimRun run(int world_size, Json task, const std::vector<Numbers>& rounds) {
  judge::SimPlan plan;
  plan.trace = true;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!rounds.empty()) task["numbers"] = Json::array();
    for (const auto& numbers : rounds) task["numbers"].push_back(numbers[static_cast<std::size_t>(rank)]);
    plan.tasks.push_back(task);
  }
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose_finding(finding);
  for (const auto& failure : run.report.failures) diagnose_error(failure.what);
  return run.answers({"all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter",
                      "reduce_scatter", "all_to_all", "barrier", "new_group", "split_group"});
}

void expect_groups_made(const std::vector<Json>& replies, int groups, const std::string& of_what) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const int made = replies[rank].at("groups");
    if (made <= groups) continue;  // fewer with split_group
    judge::misconception("more_groups_than_asked",
                         "every group keeps its memory and its connections, and new_group waits for all "
                         "ranks; fix: create each group once and keep it");
    ADD_FAILURE() << fmt::format("rank {} must call new_group once for {}, {} calls in all; it made {} calls",
                                 rank, of_what, groups, made);
    return;
  }
}

void expect_no_message_leaves(const judge::SimRun& run, const std::string& kind,
                              const std::function<int(int rank)>& part_of) {
  for (const auto& link : run.report.links) {
    if (part_of(link.src) == part_of(link.dst)) continue;
    ADD_FAILURE() << fmt::format(
        "no message may leave its {0}, but rank {1} sent {2} bytes to rank {3}, which is in another {0}",
        kind, link.src, link.bytes, link.dst);
    return;
  }
}

void expect_one_exchange_each(const judge::SimRun& run, int rounds) {
  constexpr std::uint32_t world = 0;
  constexpr std::uint64_t two_numbers = 2 * sizeof(double);
  for (int rank = 0; rank < static_cast<int>(run.ranks.size()); ++rank) {
    int in_the_half = 0, over_the_world = 0;
    for (const auto& event : run.report.trace.events) {
      if (event.kind != dist::trace::Kind::call || event.rank != rank || event.name != "all_reduce") continue;
      ++(event.group == world ? over_the_world : in_the_half);
      if (event.group != world || event.bytes == two_numbers) continue;
      if (event.bytes == sizeof(double)) {
        judge::misconception("one_exchange_for_each_sum",
                             "two tensors make two exchanges, and the time of a small exchange is its "
                             "startup cost, not its bytes; fix: put both sums into one tensor");
      }
      ADD_FAILURE() << fmt::format(
          "rank {}: the all_reduce over the world at {} has {} bytes; expected two f64, which take {}", rank,
          event.where.str(), event.bytes, two_numbers);
      return;
    }
    if (in_the_half == rounds && over_the_world == rounds) continue;
    ADD_FAILURE() << fmt::format(
        "rank {}: {} calls of both_sums made {} all_reduces in its half and {} over the world; expected one "
        "of each per call",
        rank, rounds, in_the_half, over_the_world);
    return;
  }
}

Numbers small_numbers(judge::Random& random, int count, int low, int high) {
  Numbers numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(random.between(low, high));
  return numbers;
}

Numbers one_large_number(judge::Random& random, int count) {
  Numbers numbers(static_cast<std::size_t>(count), 0);
  numbers[static_cast<std::size_t>(random.between(0, count - 1))] =
      (1 << 28) + 2 * random.between(0, 1000) + 1;
  return numbers;
}

}  // namespace lab02
