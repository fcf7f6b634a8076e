// The cost model that fits measurements.
#pragma once

#include <cstdint>
#include <span>

#include "dist/collectives/cost/cost_model.h"

namespace dist {

// How long something took: the best or the median of many times, on an idle machine.
struct Measurement {
  enum class What : std::uint8_t {
    one_way,  // a message there, half of a ping-pong: overhead + alpha + beta bytes
    burst,    // one message of many that follow each other to one rank: overhead + beta bytes
    reduce,   // reduce() of `bytes` into as many: gamma bytes
    mapped,   // an all-reduce through mapped memory, of one rank: steps * handshake + copy bytes
  };
  What what = What::one_way;
  double bytes = 0;    // mapped: all that the rank read and wrote in the others' memory and its own
  double seconds = 0;  // positive
  int steps = 1;       // mapped: synchronisations in it
};

// Weighted least squares, each measurement by the inverse of its time, so that relative errors count. No
// figure becomes negative. What was not measured stays as it is in `base`; without bursts alpha and overhead
// keep their ratio. Error{invalid_argument}: seconds that are not positive, or measurements of one kind that
// leave its figures open (all of one size, where there are two figures).
CostModel fit(std::span<const Measurement> measurements, const CostModel& base = {});

}  // namespace dist
