// What the grading of lab 20 is made of: cuts, lists that are run without data, and steps whose loss and
// gradients are known.
#pragma once

#include <string>
#include <vector>

#include "judge/ask.h"
#include "judge/exam.h"
#include "judge/sim_run.h"
#include "model.h"

namespace lab20 {

using judge::Json;

// Part 1.
struct Cut {
  std::vector<double> costs;  // whole numbers: how many units
  int stages;
  double unit = 1;
};
void expect_cuts(const std::vector<Cut>& cuts, bool best);

// Part 2.
struct Action {
  bool is_forward;
  int micro_batch;
  bool operator==(const Action&) const = default;
};
using List = std::vector<Action>;
struct Size {
  int ranks, micro_batches;
};
List right_list(const std::string& kind, int rank, const Size& size);
// The lists of all ranks are these; a wrong one is explained by what `look` asks.
enum class Look : std::uint8_t { order, can_run, in_flight, bubble };
void expect_lists(const std::string& kind, const std::vector<Size>& sizes, Look look);

// Part 3.
using Seconds = std::vector<double>;  // [micro-batch]
struct Step {
  // The list: gpipe, 1f1b; last_first, whose backwards go from the last one to the first; or any_order, in
  // which neither forwards nor backwards are in order.
  std::string kind;
  int ranks = 2;
  std::vector<std::size_t> samples = {};  // of each micro-batch
  bool eager = false;
  std::vector<Seconds> forward_s = {}, backward_s = {};  // [rank]; empty: they take no time
  std::size_t width = 0;                                 // of every stage; 0: drawn, from 2 to 5
};
void expect_step(judge::Random& random, const Step& step);
// Alone, and after another step in the same processes.
void expect_second_step(judge::Random& random, const Step& step);
void expect_messages(judge::Random& random, const Step& step);
void expect_one_batch(judge::Random& random, const Step& step);
void expect_memory(judge::Random& random, Step step);
void expect_bubble(judge::Random& random, Step step);
void expect_no_wait_for_sends(judge::Random& random, Step step);

}  // namespace lab20
