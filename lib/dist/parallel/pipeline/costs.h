// What a schedule costs: memory, counted in its lists, and time and memory by formula.
//
// p: ranks, m: micro-batches, v: chunks per rank; F, B_in, B_w: times of a micro-batch on one stage.
#pragma once

#include <string_view>
#include <vector>

#include "dist/parallel/pipeline/schedule.h"
#include "dist/parallel/pipeline/timeline.h"

namespace dist::pipeline {

// The most micro-batches that a rank holds at once, each chunk counted by itself.
struct Peak {
  int in_flight = 0;  // forward has run, the gradient of the input has not: activations
  int held = 0;       // forward has run, the gradients of the weights have not: what these still need
  bool operator==(const Peak&) const = default;
};
// The peak of each rank, counted.
std::vector<Peak> peaks(const Schedule& schedule);

// The same by formula. In flight: gpipe m, 1f1b and zb-h1 min(m, p - rank); zb-h1 holds min(m, p), which is
// what rank 0 of 1f1b has. Interleaved: min(m v, (v - 1) s + 2 (p - 1 - rank) + 1) for v > 1, where s is the
// largest round (schedule.h), p if p divides m.
Peak peak_formula(Kind kind, const Shape& shape, int rank);

// How long each rank does not compute, without latency and with equal stages; a rank computes for
// m v (F + B_in + B_w).
//   gpipe, 1f1b  (p - 1) (F + B_in + B_w)
//   interleaved  the same if m >= p, but of stages that are v times as short; if m < p,
//                (p v + m - 1 - m v) (F + B_in + B_w), since a round does not fill the pipeline
//   zb-h1        (p - 1) (F + B_in) - (min(m, p) - 1) min(F, B_in, B_w). Qi et al. (schedule.h) have
//                (p - 1) (F + B_in - B_w): the same for m >= p and B_w no longer than F and B_in.
double idle_formula(Kind kind, const Shape& shape, const StageTimes& times);
// The fraction of the total time, 0 to 1; for gpipe and 1f1b (p - 1) / (m + p - 1), for interleaved with
// m >= p (p - 1) / (m v + p - 1).
double bubble_formula(Kind kind, const Shape& shape, const StageTimes& times);

// The formulas of this shape, as text.
std::string_view bubble_text(Kind kind, const Shape& shape);
std::string_view in_flight_text(Kind kind, const Shape& shape);

}  // namespace dist::pipeline
