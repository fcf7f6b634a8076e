// Steps of an axis.
#pragma once

#include <cmath>

namespace dist::pipeline {

// The smallest of 1, 2, 5, 10, 20, ... and 0.5, 0.2, 0.1, ... that is not less than `least`, which is
// positive.
inline double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1, 2, 5})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

}  // namespace dist::pipeline
