// Lab 07: what all parts share.
#include "support.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace lab07 {
namespace {

using dist::check::Code, dist::check::Finding;
using judge::misconception;

bool somebody_has_seen_nothing(const Asked& asked) {
  const auto is_empty = [](const Json& counts) { return counts.at(1) == 0; };
  return asked.call == "global_accuracy" && std::ranges::any_of(asked.items, [&](const Item& item) {
           return std::ranges::any_of(item.of, is_empty);
         });
}

void diagnose_finding(const Asked& asked, const Finding& finding) {
  if (finding.code != Code::deadlock && finding.code != Code::never_received) return;
  const auto sends = [](const auto& party) { return party.doing.find("send") != std::string::npos; };
  if (asked.call == "all_gather" && std::ranges::all_of(finding.parties, sends)) {
    misconception("everybody_sends_first",
                  "every rank sends first, and each send waits for a receiver, so no rank receives; fix: "
                  "start the receive (irecv) before the send, or use batch_isend_irecv");
  } else if (somebody_has_seen_nothing(asked)) {
    misconception("leaves_when_it_has_seen_nothing",
                  "a rank without samples does not take part, and the other ranks wait for it; fix: call the "
                  "collective on every rank, on a rank without samples with {0, 0}, and decide by the sums");
  }
}

void diagnose_failure(const Asked& asked, const std::string& error) {
  if (asked.call == "global_accuracy" && somebody_has_seen_nothing(asked) &&
      error.find("has ended") != std::string::npos) {
    misconception("leaves_when_it_has_seen_nothing",
                  "a rank without samples returned, and the other ranks wait for it; fix: call the "
                  "collective on every rank, on a rank without samples with {0, 0}");
  }
}

std::string number_text(const Json& number) {
  if (number.is_number_integer()) return fmt::format("{}", number.get<std::int64_t>());
  return number.is_number() ? fmt::format("{}", number.get<double>()) : "NaN";  // JSON has no NaN
}

Json typed(const std::string& dtype, double number) {
  if (dtype == "i64") return static_cast<std::int64_t>(number);
  return number;
}

Json sums(const Item& item) {
  Json result = Json::array();
  for (int i = 0; i < item.elements(); ++i) {
    if (item.dtype == "i64") {
      std::int64_t total = 0;
      for (const auto& numbers : item.of)
        total += numbers.at(static_cast<std::size_t>(i)).get<std::int64_t>();
      result.push_back(total);
    } else {
      result.push_back(item.sum(i, item.ranks()));
    }
  }
  return result;
}

bool is_near(const Json& expected, const Json& got, double tolerance) {
  if (!got.is_number()) return false;
  const double right = expected;
  return std::abs(got.get<double>() - right) <= tolerance * std::max(std::abs(right), 1e-300);
}

}  // namespace

Item small_numbers(judge::Random& random, int ranks, int elements, const std::string& dtype) {
  Item item{dtype};
  for (int rank = 0; rank < ranks; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i)
      numbers.push_back(typed(dtype, 100 * (rank + 1) + random.between(0, 99)));
    item.of.push_back(numbers);
  }
  return item;
}

std::string Asked::text(std::size_t index) const {
  const Item& item = items[index];
  if (call == "global_accuracy") {
    std::vector<std::string> shards;
    for (const auto& counts : item.of)
      shards.push_back(fmt::format("{}/{}", counts[0].get<std::int64_t>(), counts[1].get<std::int64_t>()));
    return fmt::format("global_accuracy of shards {}", fmt::join(shards, ", "));
  }
  return fmt::format("{} among {} rank{}, {} {} each{}", call, item.ranks(), item.ranks() == 1 ? "" : "s",
                     item.elements(), item.dtype, item.view ? " (mine is a view of all)" : "");
}

judge::SimRun run(const Asked& asked, bool eager, const std::string& topology) {
  judge::SimPlan plan;
  plan.eager = eager;
  plan.topology = topology;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(asked.world_size()); ++rank) {
    Json task{{"call", asked.call}, {"may_refuse", asked.may_refuse}, {"items", Json::array()}};
    for (const auto& item : asked.items)
      task["items"].push_back({{"dtype", item.dtype}, {"numbers", item.of[rank]}, {"view", item.view}});
    for (const auto& [from, to] : asked.beside) {
      if (std::cmp_equal(rank, from)) task["to"].push_back(to);
      if (std::cmp_equal(rank, to)) task["from"].push_back(from);
    }
    plan.tasks.push_back(task);
  }
  if (asked.items.size() == 1) plan.about = asked.text(0);
  return judge::simulate(plan);
}

std::vector<Json> answers(const Asked& asked, const judge::SimRun& done, bool eager) {
  for (const auto& finding : done.report.findings) diagnose_finding(asked, finding);
  for (const auto& failure : done.report.failures) diagnose_failure(asked, failure.what);
  const auto replies = done.answers();
  if (!replies.empty() || judge::is_todo(done.ranks[0].reply)) return replies;
  std::vector<std::string> items;
  for (std::size_t i = 0; i < asked.items.size(); ++i) items.push_back(asked.text(i));
  ADD_FAILURE() << fmt::format("this happened{} in: {}", eager ? ", with eager sends" : "",
                               fmt::join(items, "; then "));
  return replies;
}

Json expected(const std::string& call, const Item& item) {
  if (call == "all_gather") {
    Json all = Json::array();
    for (const auto& numbers : item.of) all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }
  Json result = sums(item);
  if (call == "all_reduce_sum") return result;
  if (call == "global_accuracy") return Json::array({result[0].get<double>() / result[1].get<double>()});
  for (auto& number : result) number = number.get<double>() / item.ranks();
  return result;
}

bool agree(const std::string& call, const Item& item, const Json& expected, const Json& got) {
  if (call == "all_gather" || call == "all_reduce_sum") return expected == got;
  if (expected.size() != got.size()) return false;
  const double tolerance = item.dtype == "f32" ? 1e-6 : 1e-13;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!is_near(expected[i], got[i], tolerance)) return false;
  }
  return true;
}

std::string text(const Json& numbers) {
  constexpr std::size_t most = 12;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i) shown.push_back(number_text(numbers[i]));
  return fmt::format("{{{}{}}}", fmt::join(shown, ", "), numbers.size() > most ? ", ..." : "");
}

std::string difference(const Json& expected, const Json& got) {
  if (expected.size() != got.size())
    return fmt::format("{} elements and not {}", got.size(), expected.size());
  std::size_t i = 0;
  while (i + 1 < expected.size() && expected[i] == got[i]) ++i;
  return fmt::format("element {} is {} and not {}", i, number_text(got[i]), number_text(expected[i]));
}

}  // namespace lab07
