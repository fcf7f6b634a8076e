// What the grading of lab 08 is made of: runs of simulated ranks, the expected values and how close to them
// an answer must be.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab08 {

using judge::Json;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline constexpr const char* inf_minus_inf_in_words =
    "-inf minus -inf is NaN, and NaN persists; fix: return {-inf, 0} if the larger max is -inf, because then "
    "neither side has seen an entry";

using Reals = std::vector<double>;
using Rows = std::vector<Reals>;  // [rank]

// One call on all ranks.
struct Item {
  std::string dtype = "f32";
  Rows of = {};              // what each rank contributes; exact in dtype
  Reals weights = {};        // for weighted_mean, one per rank
  std::int64_t target = -1;  // for cross_entropy

  int ranks() const { return static_cast<int>(of.size()); }
  std::size_t numbers() const;  // of all ranks together
  std::int64_t first(int rank) const;
  double epsilon() const { return dtype == "f32" ? 0x1p-23 : 0x1p-52; }
};

// Calls of one function, one after another in the same program.
struct Asked {
  std::string call;  // "softmax_of_row"
  std::vector<Item> items;
  int world_size() const { return items.at(0).ranks(); }
  bool is_over_ranks() const;             // parts 1 and 2
  std::string text(std::size_t i) const;  // "softmax_of_row among 3 ranks, shards of 2, 0, 5 f32"
};

// The ranks' results for one item, [rank].
using Results = Rows;

judge::SimRun run(const Asked& asked);
// The results of all items; empty if the ranks returned none, and then the test has failed. It names the
// misconception that a finding or an error shows.
std::vector<Results> results(const Asked& asked, const judge::SimRun& done,
                             const std::vector<std::string_view>& allowed);
// Every collective: for tests that check numbers only.
const std::vector<std::string_view>& any_collective();

// What the ranks should have, computed in long double.
Results expected(const std::string& call, const Item& item);
// How far from `right` element i of a rank may be because of rounding.
double tolerance(const std::string& call, const Item& item, std::size_t rank, std::size_t i, double right);
bool is_near(double right, double got, double tolerance);

std::string text(double number);         // "-inf", "NaN"
std::string text(const Reals& numbers);  // "{1, -inf, 3}"; a long list is shortened
Reals parsed(const Json& texts);         // as the runner sends them
Json travelling(const Reals& numbers);

// Names the idea that fits all results.
void diagnose(const Asked& asked, const std::vector<Results>& results);

// Whether all ranks have the right values; the test fails with the first number that is wrong.
bool all_are_right(const Asked& asked, const std::vector<Results>& got);
// The same for a run made here.
void expect_right(const Asked& asked);
// Entry 0 of every rank is the same number, so its probability must be the same, bit for bit.
void expect_same_bits(const Asked& asked);

// What a call may send: calls of one collective, and nothing else.
struct Exchange {
  std::string collective;  // "all_reduce"
  int calls;               // at most, per rank
  std::uint64_t bytes;     // at most, per call: what one rank contributes
  std::string in_words;    // "two all_reduces of one or two numbers each"
};
// Checks one item. The numbers must be right, too.
void expect_exchange(const Asked& asked, const Exchange& exchange);

// merge(), on one rank: a list of pairs, and the order in which neighbours become one.
struct Merging {
  std::vector<std::pair<double, double>> pairs;
  std::vector<int> order;
};
void expect_merged(const std::vector<Merging>& mergings);

}  // namespace lab08
