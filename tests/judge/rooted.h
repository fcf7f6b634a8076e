// Rooted: what several labs ask of functions that have a root, and of calls of them that overlap.
#pragma once

#include <string>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace judge {

// The place of a rank, counted from the root.
inline int place_of(int rank, int root, int n) { return (rank - root + n) % n; }

// 0 to n - 1, each once, in any order.
std::vector<int> shuffled_ranks(Random& random, int n);
// n + 2 roots: every rank, and the one after it next. So whichever rank is late, some rank waits for it while
// the next root is ahead.
std::vector<int> roots_in_turn(Random& random, int n);

// How calls in a row overlap: one rank is late for every call; or messages arrive in any order.
struct Overlap {
  std::vector<int> delays_us;  // [rank]: it computes this long before each call
  std::string schedule;        // as in SimPlan
  std::string text;            // "; rank 2 is late"
};
std::vector<Overlap> overlaps(Random& random, int n);

// Name the misconception of a submission that takes a message of another call for one of this call: always,
// or where the finding shows it.
void calls_mixed();
void diagnose_mixed_calls(const dist::check::Finding& finding);

// [rank]: the links from the root, along those on which something was sent; -1: there is no path.
std::vector<int> depths(const SimRun& done, int root);

}  // namespace judge
