// Lab 07: what the ranks would have if a wrong idea were right.
#include <algorithm>
#include <functional>

#include "support.h"

namespace lab07 {
namespace {

// One number of the answer of `rank`: element i of chunk `part` for all_gather, element i of the result
// otherwise.
struct Place {
  const Item& item;
  int rank, part, i;
  int n() const { return item.ranks(); }
  double of(int other) const { return item.at((other % n() + n()) % n(), i); }
};

struct Idea {
  const char* call;
  const char* name;
  const char* in_words;
  std::function<double(const Place&)> number;
};

int highest_power_of_two(int n) {
  int power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

double share(double correct, double seen) { return correct / seen; }

// The mean of the shards' accuracies; a shard without samples counts as 0, or not at all.
double mean_of_shares(const Item& item, bool count_empty) {
  double total = 0;
  int counted = 0;
  for (int rank = 0; rank < item.ranks(); ++rank) {
    if (item.at(rank, 1) > 0) total += share(item.at(rank, 0), item.at(rank, 1));
    counted += count_empty || item.at(rank, 1) > 0 ? 1 : 0;
  }
  return total / counted;
}

double right_share(const Place& at) { return share(at.item.sum(0, at.n()), at.item.sum(1, at.n())); }

constexpr const char* rotated_in_words =
    "all chunks are there, but each rank's output begins with another rank's chunk; fix: store the chunks by "
    "owner, not by step: chunk r of the output is rank r's, whenever it arrives";
constexpr const char* uneven_in_words =
    "this is the mean of the shards' accuracies, in which a shard of 10 samples counts as much as one of "
    "1000; fix: sum `correct` and `seen` over all ranks, and divide once";

const std::vector<Idea>& gather_ideas() {
  static const std::vector<Idea> known{
      {"all_gather", "order_rotated", rotated_in_words, [](const Place& p) { return p.of(p.rank + p.part); }},
      {"all_gather", "order_rotated", rotated_in_words, [](const Place& p) { return p.of(p.rank - p.part); }},
      {"all_gather", "order_rotated", rotated_in_words,
       [](const Place& p) { return p.of(p.rank + 1 + p.part); }},
      {"all_gather", "order_rotated", rotated_in_words,
       [](const Place& p) { return p.of(p.rank - 1 - p.part); }},
      {"all_gather", "own_part_missing",
       "each rank's own chunk was never copied into its output, so the ring passed on what was there before",
       [](const Place&) { return untouched; }},
      {"all_gather", "own_part_missing",
       "the other ranks' chunks arrived, but the rank's own chunk was not copied into the output; fix: copy "
       "it, "
       "because no rank sends it to its owner",
       [](const Place& p) { return p.part == p.rank ? untouched : p.of(p.part); }},
      {"all_gather", "passes_its_own_on",
       "the rank sends its own chunk in every step; fix: from the second step on, send the chunk that "
       "arrived in the step before",
       [](const Place& p) { return p.part == p.rank ? p.of(p.rank) : p.of(p.rank - 1); }},
      {"all_gather", "one_step_short",
       "one step is missing: a chunk needs n - 1 steps to get from its owner to all ranks",
       [](const Place& p) { return p.part == (p.rank + 1) % p.n() ? untouched : p.of(p.part); }}};
  return known;
}

const std::vector<Idea>& reduce_ideas() {
  static const std::vector<Idea> known{
      {"all_reduce_sum", "power_of_two_assumed",
       "this is the sum of the first ranks, up to a power of two; the ranks beyond it are left out",
       [](const Place& p) { return p.item.sum(p.i, highest_power_of_two(p.n())); }},
      {"all_reduce_sum", "own_only", "every rank still has its own numbers",
       [](const Place& p) { return p.of(p.rank); }},
      {"all_reduce_sum", "sums_twice", "this is twice the sum: numbers were added on the way down, too",
       [](const Place& p) { return 2 * p.item.sum(p.i, p.n()); }},
      {"all_reduce_sum", "divides_the_sum", "this is the mean; fix: all_reduce returns the sum",
       [](const Place& p) { return p.item.sum(p.i, p.n()) / p.n(); }},
      {"all_reduce_avg", "never_divides", "this is the sum, not the mean",
       [](const Place& p) { return p.item.sum(p.i, p.n()); }},
      {"all_reduce_avg", "divides_twice",
       "this is the sum divided by n * n; fix: divide once, either before or after the sum",
       [](const Place& p) { return p.item.sum(p.i, p.n()) / p.n() / p.n(); }},
      {"all_reduce_avg", "divides_on_rank_0_only",
       "rank 0 has the mean and the other ranks have the sum; fix: if you divide after the broadcast, divide "
       "on every rank",
       [](const Place& p) { return p.item.sum(p.i, p.n()) / (p.rank == 0 ? p.n() : 1); }}};
  return known;
}

const std::vector<Idea>& accuracy_ideas() {
  static const std::vector<Idea> known{
      {"global_accuracy", "averages_of_averages", uneven_in_words,
       [](const Place& p) { return mean_of_shares(p.item, true); }},
      {"global_accuracy", "averages_of_averages", uneven_in_words,
       [](const Place& p) { return mean_of_shares(p.item, false); }},
      {"global_accuracy", "own_shard_only",
       "this is each rank's own accuracy: nothing was summed over the ranks",
       [](const Place& p) { return share(p.item.at(p.rank, 0), p.item.at(p.rank, 1)); }},
      {"global_accuracy", "integer_division",
       "two integers are divided, so the fraction is lost; fix: divide doubles",
       [](const Place& p) { return std::floor(right_share(p)); }}};
  return known;
}

bool fits(const Idea& idea, const Item& item, int rank, const Json& got) {
  const int k = idea.call == std::string("global_accuracy") ? 1 : item.elements();
  for (int at = 0; at < static_cast<int>(got.size()); ++at) {
    const Json& number = got[static_cast<std::size_t>(at)];
    const double said = idea.number({item, rank, at / k, at % k});
    if (!number.is_number() || !(std::abs(number.get<double>() - said) <= 1e-6 * std::abs(said)))
      return false;
  }
  return true;
}

bool fits_all(const Idea& idea, const Asked& asked, const std::vector<Json>& replies) {
  if (idea.call != asked.call) return false;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (std::size_t i = 0; i < asked.items.size(); ++i) {
      if (!replies[rank].at(i).contains("numbers")) return false;
      if (!fits(idea, asked.items[i], static_cast<int>(rank), replies[rank][i]["numbers"])) return false;
    }
  }
  return true;
}

// Recognizes numbers that are close but not equal, as integers are after a detour over floating point.
bool are_nearly_right(const Asked& asked, const std::vector<Json>& replies) {
  for (const auto& reply : replies) {
    for (std::size_t i = 0; i < asked.items.size(); ++i) {
      const Json right = expected(asked.call, asked.items[i]),
                 got = reply.at(i).value("numbers", Json::array());
      if (got.size() != right.size()) return false;
      for (std::size_t at = 0; at < right.size(); ++at) {
        if (!got[at].is_number()) return false;
        const double value = right[at], error = std::abs(got[at].get<double>() - value);
        if (!(error <= 1e-5 * std::abs(value))) return false;
      }
    }
  }
  return true;
}

bool only_f64_is_wrong(const Asked& asked, const std::vector<Json>& replies) {
  for (std::size_t i = 0; i < asked.items.size(); ++i) {
    const Item& item = asked.items[i];
    const auto right = expected(asked.call, item);
    const auto is_right = [&](const Json& reply) {
      return agree(asked.call, item, right, reply.at(i).value("numbers", Json()));
    };
    if (item.dtype != "f64" && !std::ranges::all_of(replies, is_right)) return false;
  }
  return true;
}

bool only_rank_0_is_right(const Asked& asked, const std::vector<Json>& replies) {
  for (std::size_t i = 0; i < asked.items.size(); ++i) {
    const auto right = expected(asked.call, asked.items[i]);
    if (!agree(asked.call, asked.items[i], right, replies[0].at(i).value("numbers", Json()))) return false;
  }
  return true;
}

}  // namespace

void diagnose(const Asked& asked, const std::vector<Json>& replies) {
  const bool whole = asked.call != "all_gather" && asked.items[0].dtype == "i64";
  if (whole && are_nearly_right(asked, replies)) {
    return judge::misconception("sums_integers_in_float",
                                "nearly right: the integers went through floating point, which is exact up "
                                "to 2^53 in f64 and up to 2^24 in f32; fix: sum i64 as i64");
  }
  if (!whole && only_f64_is_wrong(asked, replies) && are_nearly_right(asked, replies)) {
    return judge::misconception("f64_through_f32",
                                "nearly right: f64 numbers went through f32, which keeps 24 of 53 bits; fix: "
                                "send and add in the tensor's own dtype");
  }
  for (const auto* ideas : {&gather_ideas(), &reduce_ideas(), &accuracy_ideas()}) {
    for (const auto& idea : *ideas) {
      if (fits_all(idea, asked, replies)) return judge::misconception(idea.name, idea.in_words);
    }
  }
  if (asked.call == "all_gather" || !only_rank_0_is_right(asked, replies)) return;
  judge::misconception("result_on_rank_0_only", only_rank_0_in_words);
}

}  // namespace lab07
