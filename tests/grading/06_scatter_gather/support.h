// What the grading of lab 06 is made of: runs of simulated ranks, and the expected values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/collectives/trees.h"

#include "judge/exam.h"
#include "judge/numbers.h"
#include "judge/sim_run.h"

namespace lab06 {

using dist::ceil_log2, judge::difference, judge::Json, judge::Numbers, judge::text;

// One call of a function on all ranks.
struct Round {
  int ranks, root;
  Numbers all;                      // all shares, in rank order
  int columns = 1;                  // scatter_rows
  std::vector<int> delays_us = {};  // [rank]: computes so long before the call; empty: nobody does
  int elements = 0;                 // of a share, where `all` has only its first and its last one
  int rows() const { return static_cast<int>(all.size()) / columns; }
};

// Calls of one function, one after the other in the same program.
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
// What scatter must bring to this rank, and gather from it.
Numbers share_of(const Round& round, int rank);
// What an output holds before: nothing that is in any share.
Numbers garbage(const Round& round, int rank);

// Equal shares of k elements, or so many rows; the numbers drawn by lot, no two the same.
Round shares(judge::Random& random, int ranks, int root, int k);
Round uneven(judge::Random& random, int ranks, int root, int rows, int columns);

inline int place_of(int rank, int root, int n) { return (rank - root + n) % n; }
// "scatter_rows of 10 x 2 among 4 ranks, root 1"
std::string heading(const Asked& asked, const Round& round);

// What a rank is given to send: shares, or all of them in one. `everywhere`: all ranks are given what is the
// root's alone.
Json inputs(const Asked& asked, const Round& round, int rank, bool everywhere = false);
judge::SimRun run(const Asked& asked, bool eager, const std::string& topology, bool everywhere = false);
// As SimRun::answers() without any collective, and names the misconception that a finding or an error shows.
std::vector<Json> answers(const judge::SimRun& run);

// All shares are where they belong, in place, inputs as before; otherwise the test fails. `how`: said of the
// run.
bool arrived(const Asked& asked, const std::vector<Json>& replies, const std::string& how);
// The same of a run, whether sends wait for their receivers or not.
void expect_shares(const Asked& asked);

// These look at one call, with shares so large that nothing else counts.
void expect_only_shares(const Asked& asked);       // flat: messages, bytes and memory of the others
void expect_little_memory(judge::Random& random);  // scatter of 64 MiB: of the whole process of the others
void expect_only_the_subtree(const Asked& asked);  // the same for the tree
void expect_few_rounds(const Asked& asked);        // of a tree

}  // namespace lab06
