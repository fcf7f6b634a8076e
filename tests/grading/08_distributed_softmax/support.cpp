// Lab 08: what all parts share.
#include "support.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace lab08 {
namespace {

using judge::misconception;

bool has_an_empty_shard(const Asked& asked) {
  return !asked.is_over_ranks() && std::ranges::any_of(asked.items, [](const Item& item) {
    return std::ranges::any_of(item.of, [](const Reals& shard) { return shard.empty(); });
  });
}

constexpr const char* leaves_in_words =
    "a rank with an empty shard returned, and the other ranks wait for it; fix: call every collective on "
    "every rank; without entries contribute -inf to the MAX, 0 to the SUM, {-inf, 0} to the pairs";

void diagnose_failure(const Asked& asked, const std::string& error) {
  const auto says = [&](std::string_view words) { return error.find(words) != std::string::npos; };
  if (!has_an_empty_shard(asked)) return;
  if (says("has no elements")) {
    misconception("max_of_nothing",
                  "an empty shard has no largest element, and dist::max() rejects it; fix: contribute -inf "
                  "to the MAX, which is below every entry");
  } else if (says("has ended")) {
    misconception("empty_shard_leaves", leaves_in_words);
  }
}

std::string lengths_text(const Item& item) {
  std::vector<std::size_t> lengths;
  for (const auto& shard : item.of) lengths.push_back(shard.size());
  return fmt::format("shards of {} {}", fmt::join(lengths, ", "), item.dtype);
}

Json task_of(const Item& item, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  Json task{{"dtype", item.dtype}, {"numbers", travelling(item.of[at])}};
  if (!item.weights.empty()) task["weight"] = fmt::format("{}", item.weights[at]);
  if (item.target >= 0) task.update({{"first", item.first(rank)}, {"target", item.target}});
  return task;
}

}  // namespace

std::size_t Item::numbers() const {
  std::size_t all = 0;
  for (const auto& shard : of) all += shard.size();
  return all;
}

std::int64_t Item::first(int rank) const {
  std::int64_t before = 0;
  for (int other = 0; other < rank; ++other) before += std::ssize(of[static_cast<std::size_t>(other)]);
  return before;
}

bool Asked::is_over_ranks() const {
  return call == "weighted_mean" || call == "normalize" || call == "softmax_over_ranks";
}

std::string Asked::text(std::size_t i) const {
  const Item& item = items[i];
  const auto ranks = fmt::format("{} among {} rank{}", call, item.ranks(), item.ranks() == 1 ? "" : "s");
  if (is_over_ranks()) return fmt::format("{}, {} {} each", ranks, item.of[0].size(), item.dtype);
  if (item.target < 0) return fmt::format("{}, {}", ranks, lengths_text(item));
  return fmt::format("{}, {}, target {}", ranks, lengths_text(item), item.target);
}

judge::SimRun run(const Asked& asked) {
  judge::SimPlan plan;
  plan.trace = true;
  for (int rank = 0; rank < asked.world_size(); ++rank) {
    Json task{{"call", asked.call}, {"items", Json::array()}};
    for (const auto& item : asked.items) task["items"].push_back(task_of(item, rank));
    plan.tasks.push_back(task);
  }
  const auto others = asked.items.size() - 1;
  plan.about = others == 0 ? asked.text(0)
                           : fmt::format("{}, or one of {} other call{}", asked.text(0), others,
                                         others == 1 ? "" : "s");
  return judge::simulate(plan);
}

const std::vector<std::string_view>& any_collective() {
  static const std::vector<std::string_view> all{"all_reduce",     "all_gather", "broadcast",
                                                 "reduce",         "gather",     "scatter",
                                                 "reduce_scatter", "all_to_all", "barrier"};
  return all;
}

std::vector<Results> results(const Asked& asked, const judge::SimRun& done,
                             const std::vector<std::string_view>& allowed) {
  for (const auto& finding : done.report.findings) {
    if (has_an_empty_shard(asked) && finding.code == dist::check::Code::deadlock)
      misconception("empty_shard_leaves", leaves_in_words);
  }
  for (const auto& failure : done.report.failures) diagnose_failure(asked, failure.what);
  const auto replies = done.answers(allowed);
  if (replies.empty()) return {};
  std::vector<Results> all(asked.items.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const Json& seen = replies[rank].at(i);
      all[i].push_back(parsed(seen.at("numbers")));
      if (!seen.at("same_memory")) {
        misconception("not_in_place",
                      "the tensor now refers to other memory, so whoever holds the old memory does not see "
                      "the result; fix: copy_ into the tensor that the caller gave");
        ADD_FAILURE() << fmt::format(
            "{}: afterwards the tensor of rank {} has other memory than the caller gave; expected the same "
            "memory, written in place",
            asked.text(i), rank);
        return {};
      }
      if (!seen.value("unchanged", true)) {
        misconception(
            "shard_changed",
            "the logits are an input and must not change; fix: compute in a copy (to_vector() makes one)");
        ADD_FAILURE() << fmt::format("{}: expected that the shard of rank {} stays as it is; it was changed",
                                     asked.text(i), rank);
        return {};
      }
    }
  }
  return all;
}

std::string text(double number) { return std::isnan(number) ? "NaN" : fmt::format("{:.9g}", number); }

std::string text(const Reals& numbers) {
  constexpr std::size_t most = 8;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i) shown.push_back(text(numbers[i]));
  return fmt::format("{{{}{}}}", fmt::join(shown, ", "), numbers.size() > most ? ", ..." : "");
}

Reals parsed(const Json& texts) {
  Reals numbers;
  for (const auto& text : texts) numbers.push_back(std::strtod(text.get<std::string>().c_str(), nullptr));
  return numbers;
}

Json travelling(const Reals& numbers) {
  Json texts = Json::array();
  for (const double x : numbers) texts.push_back(fmt::format("{}", x));
  return texts;
}

}  // namespace lab08
