// What becomes of many times: one figure.
#pragma once

#include <vector>

namespace distlab::bench {

// Of an even number of values: the mean of the two in the middle. At least one value.
double median(std::vector<double> values);
// Of positive values, at least one.
double geometric_mean(const std::vector<double>& values);

}  // namespace distlab::bench
