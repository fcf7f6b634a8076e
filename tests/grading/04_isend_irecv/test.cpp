// The grading of lab 04. Every rank is a process of its own in the grader's simulation. The grader chooses
// the numbers at random, computes the expected results and how long they may take, and notices every tensor
// that is touched too early.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab04::Grid, lab04::How;

// Each row is on a page of its own, so that a rank that reads it too early is noticed.
constexpr int page_of_columns = 512;

constexpr How rendezvous{}, eager{.eager = true};

int even_size(Random& random) { return 2 * random.between(2, 4); }
int odd_size(Random& random) { return 2 * random.between(1, 4) + 1; }

// ---------------------------------------------------------------------------------------- part 1: swap_with

TEST(Part1Swap, swaps_with_a_partner) {
  worth(8, 1);
  Random random("swap");
  for (const How& how : {rendezvous, eager}) {
    for (const int length : {random.between(2, 40), 0}) {
      lab04::expect_swapped(random, "swap_with", lab04::draw_partners(random, even_size(random)), length,
                            how);
      if (HasFailure()) return;
    }
  }
  lab04::expect_swaps_apart(random, "swap_with");
}

TEST(Part1Swap, with_oneself) {
  worth(4, 1);
  Random random("alone");
  for (const int n : {1, odd_size(random)}) {
    lab04::expect_swapped(random, "swap_with", lab04::draw_partners(random, n), random.between(1, 40),
                          rendezvous);
    if (HasFailure()) return;
  }
}

TEST(Part1Swap, both_directions_at_once) {
  worth(5, 1);
  for (const How& how : {How{.timed = true}, How{.timed = true, .eager = true}}) {
    lab04::expect_swap_time(how);
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------------------ part 2: overlap

TEST(Part2Overlap, swaps_and_computes_once) {
  worth(8, 2);
  Random random("overlap");
  for (const How& how : {rendezvous, eager}) {
    for (const int n : {even_size(random), odd_size(random)}) {
      lab04::expect_swapped(random, "overlap", lab04::draw_partners(random, n), random.between(0, 40), how);
      if (HasFailure()) return;
    }
  }
  lab04::expect_swaps_apart(random, "overlap");
}

TEST(Part2Overlap, hides_the_transfer) {
  worth(8, 2);
  Random random("long computation");
  const double seconds = 0.1 * random.between(15, 30) * lab04::transfer_seconds();
  for (const How& how : {How{.timed = true}, How{.timed = true, .eager = true}}) {
    lab04::expect_overlap_time(seconds, how);
    if (HasFailure()) return;
  }
}

TEST(Part2Overlap, hides_the_computation) {
  worth(7, 2);
  Random random("long transfer");
  lab04::expect_overlap_time(0.1 * random.between(4, 8) * lab04::transfer_seconds(), {.timed = true});
}

// ---------------------------------------------------------------------------------- part 3: exchange_ghosts

TEST(Part3Ghosts, rows_of_the_neighbours) {
  worth(9, 3);
  Random random("ghosts");
  for (const How& how : {rendezvous, eager}) {
    for (const int n : {2, random.between(3, 9)}) {
      lab04::expect_ghosts(random, {n, random.between(2, 5), random.between(2, 9)}, how);
      if (HasFailure()) return;
    }
  }
}

TEST(Part3Ghosts, one_rank_one_row) {
  worth(4, 3);
  Random random("small");
  for (const Grid& grid : {Grid{1, 3, 4}, Grid{1, 1, 1}, Grid{random.between(3, 9), 1, 5}}) {
    lab04::expect_ghosts(random, grid, rendezvous);
    if (HasFailure()) return;
  }
}

TEST(Part3Ghosts, one_batch_at_once) {
  worth(7, 3);
  Random random("batch size");
  lab04::expect_one_batch_at_once(random.between(7, 9));
}

// -------------------------------------------------------------------------------------------- part 4: relax

TEST(Part4Relax, as_on_one_rank) {
  worth(8, 4);
  Random random("steps");
  for (const How& how : {rendezvous, eager}) {
    const Grid grid{random.between(2, 6), random.between(3, 6), page_of_columns};
    lab04::expect_relaxed(random, grid, random.between(2, 5), how);
    if (HasFailure()) return;
  }
}

TEST(Part4Relax, few_rows_few_ranks_no_steps) {
  worth(4, 4);
  Random random("few");
  for (const Grid& grid :
       {Grid{random.between(3, 5), 1, page_of_columns}, Grid{3, 2, 1}, Grid{1, 3, 4}, Grid{1, 1, 1}}) {
    for (const int steps : {random.between(1, 2) * 2 - 1, 2, 0}) {
      lab04::expect_relaxed(random, grid, steps, rendezvous);
      if (HasFailure()) return;
    }
  }
}

TEST(Part4Relax, hides_the_exchange) {
  worth(8, 4);
  Random random("rows");
  const double transfer = lab04::transfer_seconds();
  for (const double row : {0.1 * random.between(3, 9) * transfer, 0.2 * transfer}) {
    lab04::expect_relax_time(2, 3, row);
    if (HasFailure()) return;
  }
  lab04::expect_relax_time(random.between(3, 5), 3, transfer);
}

// ------------------------------------------------------------------------------------------- part 5: stream

TEST(Part5Stream, every_block_in_order) {
  worth(8, 5);
  Random random("stream");
  for (const How& how : {rendezvous, eager}) {
    for (const int blocks : {random.between(5, 12), 2, 1, 0}) {
      lab04::expect_stream(random, blocks, random.between(1, 40), how);
      if (HasFailure()) return;
    }
  }
}

TEST(Part5Stream, two_buffers_are_enough) {
  worth(3, 5);
  lab04::expect_stream_memory();
}

TEST(Part5Stream, as_long_as_its_slowest_part) {
  worth(9, 5);
  Random random("parts");
  const double unit = 0.1 * lab04::transfer_seconds();
  const double slow = random.between(13, 20) * unit, quick = random.between(4, 8) * unit;
  struct Case {
    double produce, consume;
  };
  for (const auto& [produce, consume] : {Case{slow, quick}, Case{quick, slow}, Case{quick, quick}}) {
    lab04::expect_stream_time(produce, consume);
    if (HasFailure()) return;
  }
  lab04::expect_stream_time(11 * unit, quick, 41);  // long enough for a wait in every tenth block to show
}

}  // namespace
