// What the grading of lab 06 is made of: runs of simulated ranks, and the expected values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/collectives/trees.h"

#include "judge/exam.h"
#include "judge/numbers.h"
#include "judge/rooted.h"
#include "judge/sim_run.h"

namespace lab06 {

using dist::ceil_log2, judge::counted, judge::difference, judge::Json, judge::Numbers, judge::place_of,
    judge::text;

// One call of a function on all ranks.
struct Round {
  int ranks, root;
  Numbers all;                      // all chunks, in rank order
  int columns = 1;                  // scatter_rows
  std::vector<int> delays_us = {};  // [rank]: computes this long before the call; empty: none does
  int elements = 0;                 // of a chunk, if `all` has only its first and last one
  int rows() const { return static_cast<int>(all.size()) / columns; }
};

// Calls of one function, one after another in the same program.
struct Asked {
  std::string call;  // "tree_scatter"
  std::vector<Round> rounds;
  int world_size() const { return rounds.at(0).ranks; }
  bool is(const char* name) const { return call == name; }
};

struct Part {
  int first, count;  // rows
};
Part part_of(const Round& round, int rank);
Numbers rows_of(const Round& round, int first, int count);
// What scatter must give to this rank, and what gather must take from it.
Numbers share_of(const Round& round, int rank);
// What an output holds before the call: a value that is in no chunk.
Numbers garbage(const Round& round, int rank);

// Equal chunks of k elements, or this many rows; the numbers are random and all different.
Round shares(judge::Random& random, int ranks, int root, int k);
Round uneven(judge::Random& random, int ranks, int root, int rows, int columns);

// "scatter_rows, 10 rows of 2 elements, 4 ranks, root 1"
std::string heading(const Asked& asked, const Round& round);

// What a rank is given to send: chunks, or all of them in one tensor. `everywhere`: all ranks are given what
// only the root should have.
Json inputs(const Asked& asked, const Round& round, int rank, bool everywhere = false);
judge::SimRun run(const Asked& asked, bool eager, const std::string& topology, bool everywhere = false,
                  const std::string& schedule = "");
// Like SimRun::answers() without any collective; it also names the misconception that a finding or an error
// shows.
std::vector<Json> answers(const judge::SimRun& run);

// Checks that all chunks are where they belong, in place, and that inputs are unchanged; otherwise the test
// fails. `how` describes the run in the message.
bool arrived(const Asked& asked, const std::vector<Json>& replies, const std::string& how);
// The same for a run, both with sends that wait for their receivers and with eager sends.
void expect_shares(const Asked& asked);
// The same for calls in a row that overlap.
void expect_calls_apart(judge::Random& random, Asked asked);
// Names the misconception of a submission that works from root 0 only.
void root_0_assumed();

// These check one call with chunks so large that nothing else matters.
void expect_only_shares(const Asked& asked);  // flat: messages, bytes and memory of the other ranks
void expect_little_memory(judge::Random& random,
                          const std::string& call);  // 64 MiB: the other ranks' processes
void expect_only_the_subtree(const Asked& asked);    // the same for the tree
void expect_few_rounds(const Asked& asked);          // of a tree

}  // namespace lab06
