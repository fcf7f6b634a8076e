// Lab 06: what all parts share.
#include "support.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab06 {
namespace {

using dist::check::Code, dist::check::Finding;

void diagnose_self() {
  judge::misconception("sends_to_itself",
                       "a rank sends to itself or receives from itself; fix: copy the rank's own chunk, and "
                       "check that the other rank is counted from the root");
}

void diagnose_finding(const Finding& finding) {
  judge::diagnose_mixed_calls(finding);
  if (finding.code != Code::deadlock) return;
  for (const auto& party : finding.parties) {
    if (std::ranges::find(party.waits_for, party.rank) != party.waits_for.end()) return diagnose_self();
  }
}

Json all_shares(const Round& round, Numbers (*numbers)(const Round&, int rank)) {
  Json list = Json::array();
  for (int rank = 0; rank < round.ranks; ++rank) list.push_back(numbers(round, rank));
  return list;
}

Json outputs(const Asked& asked, const Round& round, int rank, bool everywhere) {
  if (asked.is("scatter_rows")) return Json::array();
  if (!asked.is("gather")) return Json::array({garbage(round, rank)});
  return rank == round.root || everywhere ? all_shares(round, garbage) : Json::array();
}

}  // namespace

Part part_of(const Round& round, int rank) {
  const int least = round.rows() / round.ranks, longer = round.rows() % round.ranks;
  return {rank * least + std::min(rank, longer), least + (rank < longer ? 1 : 0)};
}

Numbers rows_of(const Round& round, int first, int count) {
  const auto begin = round.all.begin() + std::ptrdiff_t{first} * round.columns;
  return {begin, begin + std::ptrdiff_t{count} * round.columns};
}

Numbers share_of(const Round& round, int rank) {
  const auto part = part_of(round, rank);
  return rows_of(round, part.first, part.count);
}

Numbers garbage(const Round& round, int rank) {
  return Numbers(share_of(round, rank).size(), static_cast<float>(-1 - rank));
}

Round uneven(judge::Random& random, int ranks, int root, int rows, int columns) {
  Round round{ranks, root, {}, columns};
  for (int i = 0; i < rows * columns; ++i)
    round.all.push_back(static_cast<float>(100 * i + random.between(0, 99)));
  return round;
}

Round shares(judge::Random& random, int ranks, int root, int k) {
  return uneven(random, ranks, root, ranks * k, 1);
}

std::string heading(const Asked& asked, const Round& round) {
  const auto size =
      asked.is("scatter_rows")
          ? fmt::format("{} of {}", counted(round.rows(), "row"), counted(round.columns, "element"))
          : fmt::format("chunks of {}",
                        counted(round.elements > 0 ? round.elements : round.rows() / round.ranks, "element"));
  return fmt::format("{}, {}, {}, root {}", asked.call, size, counted(round.ranks, "rank"), round.root);
}

Json inputs(const Asked& asked, const Round& round, int rank, bool everywhere) {
  if (asked.is("gather")) return Json::array({share_of(round, rank)});
  if (rank != round.root && !everywhere) return Json::array();
  return asked.is("scatter") ? all_shares(round, share_of) : Json::array({round.all});
}

judge::SimRun run(const Asked& asked, bool eager, const std::string& topology, bool everywhere,
                  const std::string& schedule) {
  judge::SimPlan plan;
  plan.schedule = schedule;
  plan.eager = eager;
  plan.topology = topology;
  for (int rank = 0; rank < asked.world_size(); ++rank) {
    Json task{{"call", asked.call}, {"rounds", Json::array()}};
    for (const auto& round : asked.rounds) {
      const auto delay = round.delays_us.empty() ? 0 : round.delays_us.at(static_cast<std::size_t>(rank));
      task["rounds"].push_back({{"root", round.root},
                                {"columns", round.columns},
                                {"delay_us", delay},
                                {"inputs", inputs(asked, round, rank, everywhere)},
                                {"outputs", outputs(asked, round, rank, everywhere)}});
    }
    plan.tasks.push_back(task);
  }
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) diagnose_finding(finding);
  for (const auto& failure : run.report.failures) {
    if (failure.what.find("to oneself") != std::string::npos) diagnose_self();
  }
  return run.answers();
}

}  // namespace lab06
