// The rounds of interleaved 1F1B (schedule.h): micro-batches that pass one chunk before the first of them
// passes the next.
#pragma once

#include <algorithm>

#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {

constexpr int rounds(const Shape& shape) { return std::max(1, shape.micro_batches / shape.ranks); }

// Micro-batches of the largest round.
constexpr int largest_round(const Shape& shape) {
  return (shape.micro_batches + rounds(shape) - 1) / rounds(shape);
}

// How many forwards `rank` runs before its first pair of one forward and one backward, with at least two
// chunks: a round on each chunk but the last, and then two for each rank behind it, since a micro-batch goes
// to the last rank and comes back. (With one chunk, 1F1B, one is enough: the way there is filled by forwards
// of other micro-batches anyway.)
constexpr int warm_up(const Shape& shape, int rank) {
  return std::min(shape.micro_batches * shape.chunks,
                  (shape.chunks - 1) * largest_round(shape) + 2 * (shape.ranks - 1 - rank));
}

}  // namespace dist::pipeline
