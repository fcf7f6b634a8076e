// The grading of lab 13. Sizes and seeds are random, and the grader shuffles and deals by itself; its results
// are compared with PyTorch's own indices first. Ranks that run one step per sample run in the grader's
// simulation, which sees which rank waits for which.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab13::Sampling, lab13::Shuffle;

Sampling in_order(std::int64_t samples, int ranks, bool drop_last = false) {
  return {.samples = samples, .ranks = ranks, .shuffle = false, .drop_last = drop_last};
}

// ---------------------------------------------------------------------------------------- part 1: randperm

TEST(Part1Shuffle, pytorchs_own_order) {
  worth(7, 1);
  lab13::expect_permutations(lab13::golden_shuffles());
}

TEST(Part1Shuffle, any_size_and_seed) {
  worth(5, 1);
  Random random("shuffle");
  const auto seed = [&] { return static_cast<std::uint64_t>(random.between(1, 1 << 30)); };
  lab13::expect_permutations({{0, seed()},
                              {1, seed()},
                              {2, seed()},
                              {random.between(3, 9), seed()},
                              {random.between(50, 500), seed()},
                              {random.between(5000, 9000), seed()}});
}

// ------------------------------------------------------------------------- part 2: parts of a list in order

TEST(Part2Shares, divides_evenly) {
  worth(6, 2);
  Random random("even");
  const int ranks = random.between(2, 6);
  lab13::expect_shares({in_order(12, 3), in_order(ranks * random.between(3, 9), ranks),
                        in_order(random.between(4, 9), 1), in_order(0, ranks)});
  if (HasFailure()) return;
  constexpr std::int64_t exact_in_f32 = 1 << 24, most_of_32_bits = (std::int64_t{1} << 31) - 1,
                         exact_in_f64 = std::int64_t{1} << 53;
  lab13::expect_sizes({in_order(exact_in_f32 * ranks + 1, ranks), in_order(most_of_32_bits * ranks, ranks),
                       in_order(most_of_32_bits + ranks, ranks, true),
                       in_order(exact_in_f64 * ranks + 1, ranks)});
}

TEST(Part2Shares, pads_from_the_beginning) {
  worth(8, 2);
  Random random("padding");
  const int ranks = random.between(4, 8);
  lab13::expect_shares({in_order(10, 4), in_order(ranks * random.between(2, 9) + 1, ranks),
                        in_order(ranks * random.between(2, 9) + ranks - 1, ranks)});
}

TEST(Part2Shares, pads_more_than_once) {
  worth(5, 2);
  Random random("more ranks than samples");
  const int samples = random.between(2, 4);
  lab13::expect_shares(
      {in_order(3, 8), in_order(samples, 3 * samples + 1), in_order(1, random.between(2, 6))});
}

TEST(Part2Shares, drops_the_last) {
  worth(7, 2);
  Random random("drop_last");
  const int ranks = random.between(3, 7);
  lab13::expect_shares({in_order(10, 4, true),
                        in_order(ranks * random.between(2, 9) + ranks - 1, ranks, true),
                        in_order(ranks * 3, ranks, true), in_order(ranks - 1, ranks, true)});
}

TEST(Part2Shares, same_length_on_all_ranks) {
  worth(7, 2);
  Random random("length");
  const int ranks = random.between(3, 6);
  for (const auto& asked : {in_order(ranks * 3 + random.between(1, ranks - 1), ranks),
                            in_order(ranks * 2 + random.between(1, ranks - 1), ranks, true)}) {
    lab13::expect_epoch_ends(asked);
    if (HasFailure()) return;
  }
}

// ----------------------------------------------------------------------------------- part 3: seed and epoch

TEST(Part3Epochs, pytorchs_own_indices) {
  worth(7, 3);
  lab13::expect_golden_shares();
}

TEST(Part3Epochs, another_order_each_epoch) {
  worth(5, 3);
  Random random("epochs");
  const int ranks = random.between(2, 5);
  lab13::expect_other_orders({.samples = ranks * random.between(12, 20),
                              .ranks = ranks,
                              .seed = static_cast<std::uint64_t>(random.between(1, 1 << 20)),
                              .epochs = {-1, 1, random.between(2, 50), 0, 1}});
}

TEST(Part3Epochs, secret_sizes) {
  worth(5, 3);
  Random random("secret");
  std::vector<Sampling> cases;
  for (const bool drop_last : {false, true}) {
    for (int i = 0; i < 3; ++i) {
      cases.push_back({.samples = random.between(20, 300),
                       .ranks = random.between(2, 9),
                       .seed = static_cast<std::uint64_t>(random.between(1, 1 << 20)),
                       .drop_last = drop_last,
                       .epochs = {-1, random.between(1, 9), random.between(10, 90)}});
    }
  }
  lab13::expect_shares(cases);
}

// ------------------------------------------------------------------------------------ part 4: ShardedStream

TEST(Part4Stream, every_sample_once) {
  worth(6, 4);
  Random random("stream");
  std::int64_t first = 0;  // a sample's number, too
  for (const auto& [ranks, workers] :
       {std::pair{4, 3}, {random.between(2, 5), 1}, {1, random.between(2, 4)}}) {
    const int step = ranks * random.between(1, 3);  // their numbers do not say whose they are
    lab13::expect_every_sample_once({ranks * workers * random.between(2, 4), ranks, workers, first, step});
    if (HasFailure()) return;
    first = random.between(100, 999);
  }
}

TEST(Part4Stream, workers_and_ranks_with_a_common_divisor) {
  worth(8, 4);
  Random random("common divisor");
  const int common = random.between(2, 3);
  for (const auto& [ranks, workers] : {std::pair{4, 2}, {common * random.between(1, 2), common}}) {
    lab13::expect_every_sample_once(
        {ranks * workers * random.between(2, 4), ranks, workers, random.between(100, 999), ranks});
    if (HasFailure()) return;
  }
}

TEST(Part4Stream, without_end) {
  worth(5, 4);
  Random random("endless");
  for (const auto& [ranks, workers] : {std::pair{4, 2}, {random.between(2, 4), random.between(2, 4)}}) {
    lab13::expect_no_reader_starves({-1, ranks, workers, random.between(100, 999)}, random.between(3, 6));
    if (HasFailure()) return;
  }
}

TEST(Part4Stream, ranks_agree_on_the_end) {
  worth(7, 4);
  Random random("end of a stream");
  const int ranks = random.between(3, 5), workers = random.between(2, 3);
  for (const int whole : {ranks * workers * 2, ranks * (workers * 2 + 1)}) {
    lab13::expect_ranks_agree({whole + random.between(1, ranks - 1), ranks, workers, random.between(100, 999),
                               random.between(2, 5)});
    if (HasFailure()) return;
  }
}

// ---------------------------------------------------------------------------------------- part 5: run_epoch

TEST(Part5Together, all_stop_after_the_same_step) {
  worth(6, 5);
  Random random("together");
  std::vector<int> counts{3, 5, 4, random.between(3, 6)};
  random.shuffle(counts);
  lab13::expect_stops_together(random, counts);
  if (HasFailure()) return;
  lab13::expect_stops_together(random, {random.between(2, 4)});
}

TEST(Part5Together, a_rank_without_batches) {
  worth(3, 5);
  Random random("without");
  std::vector<int> counts{0, random.between(1, 4), random.between(1, 4)};
  random.shuffle(counts);
  lab13::expect_stops_together(random, counts);
}

TEST(Part5Together, one_small_all_reduce_a_step) {
  worth(3, 5);
  Random random("all_reduces");
  std::vector<int> counts{random.between(2, 3), random.between(4, 6), random.between(4, 6)};
  random.shuffle(counts);
  lab13::expect_one_small_all_reduce(random, counts);
}

}  // namespace
