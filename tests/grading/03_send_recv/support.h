// What the grading of lab 03 is made of: runs on the judge's network, and what must be true of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab03 {

using judge::Json, judge::Random;
using Values = std::vector<float>;
using Links = std::vector<std::pair<int, int>>;  // source and destination, ascending

Values draw(Random& random, int length);  // small integers but 0: float arithmetic on them is exact
std::string shown(const Values& values);  // "[3, -2, 7]"
Json packed(const Values& values);
Values unpacked(const Json& hex);  // a single NaN for what is no f32 tensor

// One call of a graded function on all ranks of a world.
struct Trial {
  std::string call;
  std::vector<Json> tasks = {};  // one a rank
  Links links = {};              // the messages that must be sent, one each

  int ranks() const { return static_cast<int>(tasks.size()); }
  std::uint64_t messages(int src, int dst) const;           // that must be sent
  bool has_used_its_links(const judge::SimRun& run) const;  // each as it must; says nothing
};

enum class Sends { wait, eager };
judge::SimRun run(const Trial& trial, Sends sends);
std::string setting(const Trial& trial,
                    Sends sends);  // "exchange on 4 ranks, sends wait for their receivers"

// No rank ended at a DIST_TODO: only then there is something to diagnose.
bool is_written(const judge::SimRun& run);

// Ranks that a deadlock holds, and in which call: "send" or "recv".
std::map<int, std::string> blocked(const judge::SimRun& run);

// All answers, when all is well and each of the trial's links has carried one message; otherwise the test
// fails, and there are none.
std::vector<Json> answers(const Trial& trial, const judge::SimRun& run);

// Each fails the test with the first thing that is wrong. `length`: elements of each tensor.
void expect_relay(Random& random, int ranks, int length);
// partners[r] is rank r's.
void expect_exchange(Random& random, const std::vector<int>& partners, int length);
void expect_exchange_rounds(Random& random, const std::vector<int>& partners);
// Pairs drawn by lot, none with rank 0 and of equal parity only; at least 4 ranks. An odd one is its own
// partner.
std::vector<int> draw_partners(Random& random, int ranks);
void expect_ring_shift(Random& random, int ranks, int length);
void expect_ring_rounds(Random& random, int ranks);
void expect_cycles(const std::vector<std::vector<int>>& cases);

}  // namespace lab03
