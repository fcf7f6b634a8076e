// What the grading of lab 04 is made of: runs of simulated ranks, the expected values and the expected times.
#pragma once

#include <string>
#include <vector>

#include "judge/exam.h"
#include "judge/numbers.h"
#include "judge/sim_run.h"

namespace lab04 {

using judge::counted, judge::Json;

// Where time is checked, messages take long: 10 Gb/s Ethernet, one rank per node.
struct How {
  bool timed = false;
  bool eager = false;         // sends return at once
  std::string schedule = "";  // as in judge::SimPlan
};
// `about` says what the run is, before each complaint: "a stream of 2 blocks".
judge::SimRun run(const std::string& about, const std::vector<Json>& tasks, const How& how = {});

// Like SimRun::answers(); it also names the misconception that a finding shows.
std::vector<Json> answers(const judge::SimRun& run);

// Times of a timed run.
inline constexpr int many = 32768;  // f64 elements of a message whose time is checked
double transfer_seconds();          // one message of this size, alone on the network
double hold_seconds();              // how long it occupies the network interfaces at both ends

// A wrong idea, recognized by the time that it takes.
struct SlowIdea {
  std::string name, in_words;
  double seconds;
};
// Checks that the run took no more than `seconds` plus 5 %; `why` says what the time is made of.
void expect_within(const judge::SimRun& run, double seconds, const std::string& why,
                   const std::vector<SlowIdea>& ideas);
std::string in_us(double seconds);

std::vector<double> small_numbers(judge::Random& random, int count);
std::string shown(const Json& numbers);

// Parts 1 and 2. Two partners swap with each other; with an odd number of ranks, one is its own partner.
std::vector<int> draw_partners(judge::Random& random, int world_size);
// Every rank sends its numbers to its partner, with a computation if `call` is "overlap".
void expect_swapped(judge::Random& random, const std::string& call, const std::vector<int>& partners,
                    int length, const How& how);
// Swaps in a row with changing partners, some ranks late; messages of different ranks arrive in any order.
void expect_swaps_apart(judge::Random& random, const std::string& call);
void expect_swap_time(const How& how);
void expect_overlap_time(double computation_seconds, const How& how);

// Parts 3 and 4.
struct Grid {
  int ranks, rows, columns;
  int all_rows() const { return rows + 2; }
  std::string text() const;  // "3 ranks with 1 row of 2 elements each"
};
void expect_ghosts(judge::Random& random, const Grid& grid, const How& how);
void expect_one_batch_at_once(int ranks);
void expect_relaxed(judge::Random& random, const Grid& grid, int steps, const How& how);
void expect_relax_time(int ranks, int steps, double row_seconds);

// Part 5.
void expect_stream(judge::Random& random, int blocks, int length, const How& how);
void expect_stream_memory();
// The seconds that it takes to produce and to consume a block.
void expect_stream_time(double produce_seconds, double consume_seconds, int blocks = 8);

}  // namespace lab04
