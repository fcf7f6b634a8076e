// What the grading of lab 07 is made of: runs of simulated ranks, and the expected values.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab07 {

using judge::Json;

inline constexpr double untouched = -77;  // as in runner.cpp: what an output holds before the call

// One call on all ranks.
struct Item {
  std::string dtype = "f32";
  std::vector<Json> of = {};  // [rank]: its numbers; for global_accuracy {correct, seen}
  bool view = false;          // all_gather: `mine` is a view of `all`

  int ranks() const { return static_cast<int>(of.size()); }
  int elements() const { return static_cast<int>(of.at(0).size()); }
  std::uint64_t bytes() const {
    return std::uint64_t{dtype == "f32" ? 4U : 8U} * static_cast<unsigned>(elements());
  }
  double at(int rank, int i) const {
    return of[static_cast<std::size_t>(rank)].at(static_cast<std::size_t>(i));
  }
  double sum(int i, int first_ranks) const {
    double total = 0;
    for (int rank = 0; rank < first_ranks; ++rank) total += at(rank, i);
    return total;
  }
};

// Small integers, different on all ranks.
Item small_numbers(judge::Random& random, int ranks, int elements, const std::string& dtype = "f32");

// Calls of one function, one after another in the same program.
struct Asked {
  std::string call;  // "all_gather"
  std::vector<Item> items;
  bool may_refuse = false;  // Error{invalid_argument} is an answer
  // {from, to}: the program around the call has a message under way from one rank to another.
  std::vector<std::pair<int, int>> beside = {};
  int world_size() const { return items.at(0).ranks(); }
  std::string text(std::size_t item) const;  // "all_gather among 3 ranks, 2 x i64 each"
};

judge::SimRun run(const Asked& asked, bool eager, const std::string& topology = "laptop");
// Like SimRun::answers() without any collective; it also names the misconception that a finding or an error
// shows.
std::vector<Json> answers(const Asked& asked, const judge::SimRun& done, bool eager);

// What all ranks should have after a call.
Json expected(const std::string& call, const Item& item);
// Equal, or as close as the rounding of one division allows.
bool agree(const std::string& call, const Item& item, const Json& expected, const Json& got);
std::string text(const Json& numbers);  // "{1, 2, 3}"; a long list is shortened
std::string difference(const Json& expected, const Json& got);

inline constexpr const char* only_rank_0_in_words =
    "rank 0 has the result and other ranks do not; fix: after the reduce, broadcast the result to all ranks";
// Names the idea that fits all answers.
void diagnose(const Asked& asked, const std::vector<Json>& replies);

// Checks that all ranks have the right values, in place, both with sends that wait for their receivers and
// with eager sends.
void expect_right(const Asked& asked);
// The same while the program around the call has messages under way between ranks that the call does not
// connect.
void expect_apart(Asked asked);
// The same in one run, in rounds. Returns false, and the test has failed, if the values are wrong already.
bool run_in_rounds(const Asked& asked, judge::SimRun& done);
// Checks all_reduce or all_reduce_avg of numbers whose sum depends on the order: the results must be equal on
// all ranks and close to the sum.
void expect_same_bits(const Asked& asked);
// Checks that every rank throws Error{invalid_argument}, and if `nothing_moves` that no message was sent
// before.
void expect_refused(const Asked& asked, bool nothing_moves);

// These check one call, on topology "rounds".
void expect_ring_traffic(const Asked& asked);  // neighbours only, n - 1 chunks
void expect_ring_rounds(const Asked& asked);
void expect_reduce_and_broadcast(const Asked& asked);  // messages and rounds
void expect_one_all_reduce(const Asked& asked);

}  // namespace lab07
