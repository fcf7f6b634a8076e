// Sums: questions about functions that sum a tensor over all ranks in place, as several labs ask them, and
// what is wrong with the answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace judge {

// One call on all ranks.
struct Sum {
  std::vector<Json> of = {};  // [rank]: its numbers; none when `large`
  std::string dtype = "f32";
  std::int64_t segment = 1;  // elements; for calls that take it
  std::int64_t large = 0;    // instead of numbers: this many elements, each of them rank + 1
  int large_ranks = 0;

  int ranks() const { return large > 0 ? large_ranks : static_cast<int>(of.size()); }
  std::int64_t elements() const { return large > 0 ? large : static_cast<std::int64_t>(of.at(0).size()); }
  std::int64_t item_bytes() const { return dtype == "f32" ? 4 : 8; }
  std::int64_t bytes() const { return item_bytes() * elements(); }
  double at(int rank, int i) const;
  double total(int i) const;
  // Chunk c is the elements from begin(c) to begin(c + 1).
  std::int64_t begin(int c) const { return elements() * c / ranks(); }
  int chunk_of(int i) const;
  int segments_of(std::int64_t length) const;  // ceil(length / segment), at least 1
};
Sum small_numbers(Random& random, int ranks, int elements, const std::string& dtype = "f32");
Sum long_numbers(Random& random, int ranks, int elements);  // f64 that f32 cannot hold; their sums are exact
Sum large_integers(Random& random, int ranks, int elements);  // i64 that f64 cannot hold
Sum order_matters(Random& random, int ranks, int elements);   // f32; another order has another sum
Sum large_sum(int ranks, std::int64_t elements, std::int64_t segment);
Sum one_sum(Random& random, int ranks, int elements, std::int64_t segment = 1);  // of small_numbers()

// What element i should be on `rank` afterwards, one number of the ranks or a sum of some; NaN: it does not
// matter.
using Expected = std::function<double(const Sum& sum, int rank, int i)>;

// What it would be, were a wrong idea right.
struct Idea {
  std::string call, name, in_words;
  Expected number;
};

// Calls of one function, one after the other in the same program.
struct SumsAsked {
  std::string call;  // "all_reduce"
  std::vector<Sum> sums;
  Expected expected = {};  // empty: the total
  const std::vector<Idea>* ideas = nullptr;
  std::function<void(const dist::check::Finding&)> diagnose = {};  // of one that was found
  bool trace = false;         // the run's report has every message and every reduction
  Watch sent = {};            // as in SimPlan
  int late = -1;              // this rank computes for a millisecond before each call
  std::string schedule = {};  // as in SimPlan

  std::string text(std::size_t index = 0) const;  // "all_reduce among 3 ranks, 2 i64 each"
  std::string text_of_all() const;  // "all_reduce among 3 ranks, 2 i64 each, then 0 i64 and 7 i64"
  const Sum& first() const { return sums.at(0); }
};

// All ranks have what they should, in place: with sends that wait for their receivers, and with eager ones,
// too.
void expect_sums(const SumsAsked& asked, bool eager_too = true);
// Calls of these lengths in a row, for each of these numbers of ranks, until one fails; for the last one with
// eager sends, too. `asked` has no sums yet.
using Lengths = std::function<std::vector<int>(int ranks)>;
void expect_sizes(Random& random, SumsAsked asked, const std::vector<int>& sizes, const Lengths& lengths,
                  std::int64_t segment = 1);
// f64 that f32 cannot hold, i64 that f64 cannot hold. `asked` has no sums yet.
void expect_dtypes(Random& random, SumsAsked asked, int ranks, std::int64_t segment = 1);
// The same as expect_sums(), once, on this topology. False, and the test has failed, when the numbers are
// already wrong.
bool run_sums(const SumsAsked& asked, const std::string& topology, SimRun& done);
// The result of one call with order_matters(): equal on all ranks, and close to the total.
void expect_same_bits(const SumsAsked& asked);

// Many ranks, each a process: at most 64.
struct World {
  std::string call;
  int ranks;
  int elements;
  std::int64_t segment = 1;
  std::string topology = "laptop";
};
struct WorldReport {
  bool is_right = false;  // otherwise the test has failed
  double virtual_time_s = 0;
  std::uint64_t messages = 0;
};
WorldReport run_world(Random& random, const World& world);

}  // namespace judge
