// The cost model that fits measurements.
#pragma once

#include <cstdint>
#include <span>

#include "dist/collectives/cost/cost_model.h"

namespace dist {

// How long something took: the best or the median of many runs, on an idle machine.
struct Measurement {
  enum class What : std::uint8_t {
    one_way,  // a message one way, half of a ping-pong: overhead + alpha + beta bytes
    burst,    // one message of many that follow each other to one rank: overhead + beta bytes
    reduce,   // reduce() of two operands of `bytes`: gamma bytes
    mapped,   // one rank's part of an all-reduce in mapped memory: steps * handshake + copy bytes
  };
  What what = What::one_way;
  double bytes = 0;    // mapped: everything that the rank read and wrote, in others' memory and its own
  double seconds = 0;  // positive
  int steps = 1;       // mapped: its number of synchronisations
};

// Weighted least squares: each measurement counts by the inverse of its time, so that relative errors matter.
// No figure becomes negative. Figures that were not measured keep their values of `base`; without bursts,
// alpha and overhead keep their ratio. Error{invalid_argument}: seconds that are not positive, or
// measurements of one kind that do not determine its figures (all of one size, where there are two figures).
CostModel fit(std::span<const Measurement> measurements, const CostModel& base = {});

}  // namespace dist
