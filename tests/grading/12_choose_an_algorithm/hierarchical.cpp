// Lab 12, part 4: an all_reduce over several nodes, and the bytes that leave a node.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/numbers.h"
#include "support.h"

namespace lab12 {
namespace {

using judge::misconception;

std::string text(const Cluster& c, const Item& item) {
  return fmt::format("hierarchical_all_reduce of {} {} on {} node{} of {} GPU{}", item.of[0].size(),
                     item.dtype, c.nodes, c.nodes == 1 ? "" : "s", c.gpus, c.gpus == 1 ? "" : "s");
}

Json sums(const Item& item) {
  Json result = Json::array();
  for (std::size_t i = 0; i < item.of[0].size(); ++i) {
    std::int64_t total = 0;
    for (const auto& numbers : item.of) total += numbers.at(i).get<std::int64_t>();
    result.push_back(total);
  }
  return result;
}

judge::SimRun run(const Cluster& c, const std::vector<Item>& items) {
  judge::SimPlan plan;
  plan.topology = c.topology;
  plan.trace = true;
  if (items.size() == 1) plan.about = text(c, items[0]);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(c.ranks()); ++rank) {
    Json task{{"call", "hierarchical_all_reduce"}, {"gpus", c.gpus}, {"items", Json::array()}};
    for (const auto& item : items)
      task["items"].push_back({{"dtype", item.dtype}, {"numbers", item.of[rank]}});
    plan.tasks.push_back(task);
  }
  return judge::simulate(plan);
}

// The sum over some of the ranks only.
Json sum_of(const Item& item, const std::vector<int>& ranks) {
  Item some{item.dtype, {}};
  for (const int rank : ranks) some.of.push_back(item.of[static_cast<std::size_t>(rank)]);
  return sums(some);
}

void diagnose_sums(const Cluster& c, const Item& item, const std::vector<Json>& replies, std::size_t at) {
  const Json right = sums(item);
  bool node_only = true, across_only = true, own_part_only = true;
  for (int rank = 0; rank < c.ranks(); ++rank) {
    std::vector<int> node, peers;
    for (int other = 0; other < c.ranks(); ++other) {
      if (other / c.gpus == rank / c.gpus) node.push_back(other);
      if (other % c.gpus == rank % c.gpus) peers.push_back(other);
    }
    const Json got = replies[static_cast<std::size_t>(rank)].at(at).at("numbers");
    node_only = node_only && got == sum_of(item, node);
    across_only = across_only && got == sum_of(item, peers);
    const auto part = right.size() / static_cast<std::size_t>(c.gpus);
    const auto first = static_cast<std::size_t>(rank % c.gpus) * part;
    for (auto i = first; i < first + part; ++i) own_part_only = own_part_only && got.at(i) == right[i];
  }
  if (across_only) {
    misconception("intra_node_step_skipped",
                  "this is the sum over the ranks with the same local rank on each node: within a node "
                  "nothing was added; fix: begin with a reduce-scatter within each node");
  } else if (node_only) {
    misconception("nodes_stay_apart", "every node has its own sum: no data was sent between nodes");
  } else if (own_part_only) {
    misconception("parts_not_gathered",
                  "each rank has the sum of its own part only; fix: end with an all_gather within the node");
  }
}

bool check_sums(const Cluster& c, const std::vector<Item>& items, const std::vector<Json>& replies) {
  for (std::size_t at = 0; at < items.size(); ++at) {
    const Json right = sums(items[at]);
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const Json& got = replies[rank].at(at);
      if (!got.at("same_memory")) {
        misconception("not_in_place",
                      "the tensor now refers to other memory; fix: write into the memory that it has");
        ADD_FAILURE() << text(c, items[at]) << ": afterwards the tensor of rank " << rank
                      << " has other memory; expected the same, written in place";
        return false;
      }
      if (got.at("numbers") == right) continue;
      diagnose_sums(c, items[at], replies, at);
      std::size_t i = 0;
      while (got.at("numbers").at(i) == right.at(i)) ++i;
      ADD_FAILURE() << fmt::format("{}: element {} is {} on rank {}; expected {}", text(c, items[at]), i,
                                   judge::number_text(got["numbers"][i]), rank, judge::number_text(right[i]));
      return false;
    }
  }
  return true;
}

const std::vector<std::string_view> allowed{"reduce_scatter", "all_reduce", "all_gather",
                                            "reduce",         "broadcast",  "scatter",
                                            "gather",         "new_group",  "split_group"};

// Whether the library's own hierarchical algorithm was used, which this part does not allow.
bool is_the_librarys(const judge::SimRun& done) {
  return std::ranges::any_of(done.report.trace.events,
                             [](const auto& event) { return event.algorithm == "hierarchical"; });
}

bool check(const Cluster& c, const std::vector<Item>& items, const judge::SimRun& done) {
  for (const auto& finding : done.report.findings) {
    if (finding.code == dist::check::Code::wrong_group) {
      misconception("only_members_make_the_group",
                    "a rank uses a group that it is not in, or that the other ranks have not created with "
                    "it; fix: create every group on every rank, in the same order, and keep those of which "
                    "the rank is a member");
    }
  }
  const auto replies = done.answers(allowed);
  if (replies.empty() || !check_sums(c, items, replies)) return false;
  if (!is_the_librarys(done)) return true;
  misconception("the_librarys_own",
                "the library's hierarchical all_reduce was called; fix: build your own from a "
                "reduce-scatter, an all_reduce across the nodes and an all_gather");
  ADD_FAILURE() << text(c, items[0])
                << ": expected three collectives in your groups, not algorithm \"hierarchical\"";
  return false;
}

// The bytes of the rank that sends most.
struct Bytes {
  double between = 0, within = 0;
  int rank_between = 0, rank_within = 0;
};

Bytes most_bytes(const Cluster& c, const judge::SimRun& done) {
  Bytes most;
  for (int rank = 0; rank < c.ranks(); ++rank) {
    Bytes of;
    for (const auto& link : done.report.links) {
      if (link.src != rank) continue;
      (link.dst / c.gpus == rank / c.gpus ? of.within : of.between) += static_cast<double>(link.bytes);
    }
    if (of.between > most.between) most.between = of.between, most.rank_between = rank;
    if (of.within > most.within) most.within = of.within, most.rank_within = rank;
  }
  return most;
}

// Whether no rank has called more than three collectives.
bool are_three(const Cluster& c, const Item& item, const judge::SimRun& done) {
  for (std::size_t rank = 0; rank < done.done.size(); ++rank) {
    int calls = 0;
    for (const auto& [call, of_rank] : done.done[rank])
      if (call != "new_group" && call != "split_group") calls += of_rank.calls;
    if (calls <= 3) continue;
    misconception("more_than_three_collectives",
                  "each collective waits for the ranks of its group, so more of them take longer; fix: one "
                  "within the node, one across the nodes, one within the node, each for all that a rank has");
    ADD_FAILURE() << fmt::format("{}: expected three collectives; rank {} called {}", text(c, item), rank,
                                 calls);
    return false;
  }
  return true;
}

// Diagnoses by the calls and their bytes.
void diagnose_traffic(const judge::SimRun& done, double size) {
  bool flat = true, leaders = false, all_of_it = false;
  for (const auto& event : done.report.trace.events) {
    if (event.kind != dist::trace::Kind::call) continue;
    const bool whole = static_cast<double>(event.bytes) >= size;
    if (event.name.find("all_reduce") == std::string::npos) flat = false;
    if (event.name == "reduce" || event.name == "broadcast") leaders = true;
    if (event.name.find("all_reduce") != std::string::npos && whole) all_of_it = true;
  }
  if (leaders) {
    misconception("leaders_only",
                  "one rank of each node carries all of the node's data to the other nodes, while the other "
                  "network interfaces are idle; fix: let each rank carry its part");
  } else if (flat && all_of_it) {
    misconception("flat_over_nodes",
                  "an all_reduce of all of the data crosses the nodes; fix: reduce-scatter within the node "
                  "first, so that only S/g bytes per rank cross");
  } else if (!all_of_it) {
    misconception(
        "algorithm_left_to_chance",
        "across the nodes, the library chose an algorithm with fewer messages and more bytes; fix: name the "
        "ring (.algorithm = \"ring\"), which sends 2(m-1)/m of its data instead of log2 m times all of it");
  }
}

}  // namespace

Cluster cluster(int nodes, int gpus) {
  return {nodes, gpus, gpus == 1 ? "laptop" : fmt::format("nodes-of-{}", gpus)};
}

Item small_numbers(judge::Random& random, int ranks, int elements, const std::string& dtype) {
  Item item{dtype, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i) numbers.push_back(100 * (rank + 1) + random.between(0, 99));
    item.of.push_back(numbers);
  }
  return item;
}

Item large_integers(judge::Random& random, int ranks, int elements) {
  Item item{"i64", {}};
  for (int rank = 0; rank < ranks; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i)
      numbers.push_back((std::int64_t{1} << 53) + 2 * std::int64_t{random.between(0, 1 << 20)} +
                        (rank == 0 ? 1 : 2));
    item.of.push_back(numbers);
  }
  return item;
}

// Between 1 and 10^7 in size, of both signs.
Item order_matters(judge::Random& random, int ranks, int elements) {
  Item item{"f32", {}};
  for (int rank = 0; rank < ranks; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i) {
      const double size = std::pow(10, random.between(0, 6)) * random.between(100, 999) / 97;
      numbers.push_back(static_cast<double>(static_cast<float>(random.between(0, 1) == 0 ? size : -size)));
    }
    item.of.push_back(numbers);
  }
  return item;
}

void expect_sums(const Cluster& c, const std::vector<Item>& items) { check(c, items, run(c, items)); }

void expect_same_bits(const Cluster& c, const Item& item) {
  const auto replies = run(c, {item}).answers(allowed);
  if (replies.empty()) return;
  const Json first = replies[0].at(0).at("numbers");
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& got = replies[rank].at(0).at("numbers");
    for (std::size_t i = 0; i < item.of[0].size(); ++i) {
      double sum = 0, magnitude = 0;
      for (const Json& numbers : item.of) {
        sum += numbers[i].get<double>();
        magnitude += std::abs(numbers[i].get<double>());
      }
      if (std::abs(judge::real(got.at(i)) - sum) > 1e-6 * magnitude) {
        ADD_FAILURE() << fmt::format("{}: element {} is {} on rank {}; expected about {}", text(c, item), i,
                                     judge::number_text(got[i]), rank, sum);
        return;
      }
      if (got[i] == first.at(i)) continue;
      misconception(
          "each_rank_sums_in_its_own_order",
          "float addition depends on the order: ranks that add the same numbers in different orders "
          "get different bits; fix: let one rank compute each element, and give its result to all");
      ADD_FAILURE() << fmt::format(
          "{}: expected the same bits on all ranks; element {} is {} on rank 0 and {} on rank {}",
          text(c, item), i, judge::number_text(first[i]), judge::number_text(got[i]), rank);
      return;
    }
  }
}

void expect_node_traffic(const Cluster& c, const Item& item) {
  const auto done = run(c, {item});
  if (!check(c, {item}, done) || !are_three(c, item, done)) return;
  const double size = 4. * static_cast<double>(item.of[0].size()), m = c.nodes, g = c.gpus;
  const Bytes most = most_bytes(c, done);
  const double most_between = 2 * (m - 1) / m * size / g, most_within = 2 * (g - 1) / g * size;
  const auto tell = [&](int rank, double bytes, const char* where, double allowed, const char* formula) {
    diagnose_traffic(done, size);
    ADD_FAILURE() << fmt::format("{}: rank {} sends {:.0f} bytes {}; expected at most {:.0f}, which is {}",
                                 text(c, item), rank, bytes, where, allowed, formula);
  };
  if (most.between > most_between * 1.0001)
    tell(most.rank_between, most.between, "to other nodes", most_between, "2(m-1)/m S/g");
  else if (most.within > most_within * 1.0001)
    tell(most.rank_within, most.within, "within its node", most_within, "2(g-1)/g S");
}

}  // namespace lab12
