// What the grading of lab 13 is made of: the grader's own shuffle, parts and readers, and the cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab13 {

using judge::Json;
using Indices = std::vector<std::int64_t>;

// "{1, 2, 3}"; a long list is shortened; from position `from` on "{..., 2, 3}".
std::string text(const Indices& indices, std::size_t from = 0);
// From which position two lists are shown so that their first difference is visible.
std::size_t first_shown(const Indices& right, const Indices& got);

// The arguments of one call of randperm().
struct Shuffle {
  std::int64_t n = 0;
  std::uint64_t seed = 0;
};
Indices permutation(std::int64_t n, std::uint64_t seed);  // the right one
void expect_permutations(const std::vector<Shuffle>& cases);

// Samplers of all ranks, in each of these epochs; -1: without set_epoch().
struct Sampling {
  std::int64_t samples = 0;
  int ranks = 1;
  bool shuffle = true;
  std::uint64_t seed = 0;
  bool drop_last = false;
  std::vector<std::int64_t> epochs = {-1};

  std::string text(std::int64_t epoch) const;
};
using Shares = std::vector<Indices>;                       // [rank]
Shares shares(const Sampling& asked, std::int64_t epoch);  // the right ones

void expect_shares(const std::vector<Sampling>& cases);
void expect_sizes(const std::vector<Sampling>& cases);  // their size() alone
// The same for PyTorch's values (tests/golden).
void expect_golden_shares();
std::vector<Shuffle> golden_shuffles();
// Checks epochs one after another: every rank must have another order each time, and no sample may be on two
// ranks.
void expect_other_orders(const Sampling& asked);
// Checks that every rank does one all_reduce per sample, so that no rank waits forever.
void expect_epoch_ends(const Sampling& asked);

// A stream that all workers of all ranks read; `samples` -1: it has no end.
struct Reading {
  std::int64_t samples = -1;
  int ranks = 1, workers = 1;
  std::int64_t first = 0;  // number of the first sample
  std::int64_t step = 1;   // from one sample's number to the next

  std::int64_t sample(std::int64_t place) const { return first + place * step; }
  std::int64_t place(std::int64_t sample) const;  // -1: it is not in the stream
  std::string text() const;
};
// For a stream that divides evenly: every sample is taken exactly once, and every worker gets its part.
void expect_every_sample_once(const Reading& asked);
// For a stream without end: every reader gets `each` samples and reads no more for them than necessary.
void expect_no_reader_starves(const Reading& asked, int each);
// All ranks get one sample of each whole round, and an epoch with an all_reduce per sample ends.
void expect_ranks_agree(const Reading& asked);

// run_epoch() of ranks with these numbers of batches.
void expect_stops_together(judge::Random& random, const std::vector<int>& batches);
void expect_one_small_all_reduce(judge::Random& random, const std::vector<int>& batches);

}  // namespace lab13
