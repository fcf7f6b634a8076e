// What the grading of lab 03 is made of: runs on the grader's network, and what must be true of each.
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

Values draw(Random& random, int length);  // small integers except 0, on which float arithmetic is exact
std::string shown(const Values& values);  // "[3, -2, 7]"
Json packed(const Values& values);
Values unpacked(const Json& hex);  // a single NaN for anything but an f32 tensor

// One call of a graded function on all ranks of a world.
struct Trial {
  std::string call;
  std::vector<Json> tasks = {};  // one per rank
  Links links = {};              // each must carry one message

  int ranks() const { return static_cast<int>(tasks.size()); }
  std::uint64_t messages(int src, int dst) const;           // how many must be sent
  bool has_used_its_links(const judge::SimRun& run) const;  // each as it must; reports nothing
};

enum class Sends { wait, eager };
judge::SimRun run(const Trial& trial, Sends sends);
std::string setting(const Trial& trial,
                    Sends sends);  // "exchange on 4 ranks, sends wait for their receivers"

// No rank stopped at a DIST_TODO; only then there is something to diagnose.
bool is_written(const judge::SimRun& run);

// The ranks that a deadlock holds, and the call in which each one is: "send" or "recv".
std::map<int, std::string> blocked(const judge::SimRun& run);

// All answers, if nothing failed and each of the trial's links has carried one message; otherwise the test
// fails, and the result is empty.
std::vector<Json> answers(const Trial& trial, const judge::SimRun& run);

// Each of these fails the test with the first difference. `length`: elements of each tensor.
void expect_relay(Random& random, int ranks, int length);
// partners[r] is rank r's partner.
void expect_exchange(Random& random, const std::vector<int>& partners, int length);
void expect_exchange_rounds(Random& random, const std::vector<int>& partners);
// Random pairs, none with rank 0 and each of two even or two odd ranks; at least 4 ranks. A rank that is left
// over is its own partner.
std::vector<int> draw_partners(Random& random, int ranks);
void expect_ring_shift(Random& random, int ranks, int length);
void expect_ring_rounds(Random& random, int ranks);
void expect_cycles(const std::vector<std::vector<int>>& cases);

}  // namespace lab03
