// Statistics that turn many times into one figure.
#pragma once

#include <vector>

namespace distlab::bench {

// For an even number of values, the mean of the two in the middle. Needs at least one value.
double median(std::vector<double> values);
// Needs at least one value; all must be positive.
double geometric_mean(const std::vector<double>& values);

}  // namespace distlab::bench
