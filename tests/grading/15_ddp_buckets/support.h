// What the grading of lab 15 is made of: PyTorch's rule, models whose gradients are known, and how long their
// backward may take.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab15 {

using judge::Json;

using Buckets = std::vector<std::vector<std::size_t>>;  // gradients, by index
using Limits = std::vector<std::size_t>;                // bytes
struct Size {
  std::size_t bytes;
  std::string dtype = "f32";
};

// Part 1. The arguments of one call of fill_buckets().
struct Filling {
  std::vector<Size> sizes;
  Limits limits;
};
Filling draw_filling(judge::Random& random, int gradients, const std::vector<std::string>& dtypes);
void expect_filled(const std::vector<Filling>& questions);
void expect_golden();  // PyTorch's buckets, tests/golden/ddp_buckets.json
// The right answer.
Buckets filled(const Filling& question);
// For lists that are not equal: the first bucket that differs, or that one of the lists does not have.
std::size_t first_difference(const Buckets& right, const Buckets& got);
std::string bucket_text(const Buckets& buckets, std::size_t at);  // "{0 1}"; "missing" after the last one

// Part 2.
struct Gradient {
  std::vector<std::int64_t> shape;
  std::string dtype = "f32";
};
enum class Look : std::uint8_t { order, memory, elements };
void expect_reducer(judge::Random& random, const std::vector<Gradient>& gradients, const Limits& limits,
                    Look look);

// Parts 3 to 5: a model of f32 gradients in buckets that the grader chooses.
struct Model {
  std::vector<std::int64_t> counts;  // elements of each gradient
  Buckets buckets;                   // in the order in which they are launched
  std::int64_t count_of(std::size_t bucket) const;
  std::uint64_t bytes_of(std::size_t bucket) const {
    return 4 * static_cast<std::uint64_t>(count_of(bucket));
  }
};
// Gradients of about `count` elements, this many per bucket, the last gradients first. `even`: all have one
// size; otherwise no two buckets have the same size.
Model draw_model(judge::Random& random, const std::vector<int>& members, int count, bool even = false);

using Values = std::vector<std::vector<double>>;  // [rank][gradient]
Values draw_values(judge::Random& random, int ranks, const Model& model);

// What the ranks of a run do: one task per rank. `order`: the order in which gradients become ready; if it is
// empty, from the last to the first.
struct Play {
  Model model;
  std::vector<double> seconds = {};                   // of each gradient's computation; empty: no time
  std::vector<std::vector<std::size_t>> orders = {};  // [rank]
  bool timed = false;                                 // on 10 Gb/s Ethernet
};
Json task_of(const std::string& call, const Play& play, std::size_t rank);
judge::SimRun run(const std::vector<Json>& tasks, bool timed);
// Like SimRun::answers(); it also names the misconception that a finding shows.
std::vector<Json> answers(const judge::SimRun& run);

// Whether the first and last elements, `ends[rank][gradient]`, are the means over the ranks. Reports the
// first that is not. `when`: "after backward 1". `diagnose_first`: before it looks for ideas of its own.
bool are_means(const std::vector<Json>& ends, const Values& values, const Model& model,
               const std::string& when, const std::function<void()>& diagnose_first = {});

// What rank's collectives carried, in the order of the calls: bytes, and the time of the call in seconds.
struct Call {
  std::uint64_t bytes;
  double at;
};
std::vector<Call> calls_of(const judge::SimRun& done, int rank);

// Part 3. This many backwards on this many ranks, in `play.orders`; the same after one that fails half-way.
void expect_means(judge::Random& random, int ranks, int backwards, const Play& play);
// Checks that all ranks make one all_reduce per bucket, in the order of the buckets.
void expect_calls(judge::Random& random, int ranks, const Play& play);
// The computation of a backward takes `share` of the time of all communication; at least 90 % of what can be
// hidden must be.
void expect_overlap(judge::Random& random, int ranks, double share);

// Part 4.
void expect_finished(judge::Random& random, int ranks);
void expect_missing_named(judge::Random& random, int ranks, std::size_t launched);

// Part 5. Checks the numbers, or what is sent. `syncs_before`: what the call before has left.
void expect_accumulated(judge::Random& random, int ranks, int batches, bool syncs_before = true);
void expect_syncs_after_an_error(judge::Random& random, int ranks, int batches);
void expect_silence(judge::Random& random, int ranks, int batches);

}  // namespace lab15
