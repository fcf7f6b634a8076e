// Numbers that graded code was given or returned, in the words of a failure.
#pragma once

#include <string>
#include <vector>

#include "dist/core/counted.h"

#include "judge/frame.h"

namespace judge {

std::string number_text(const Json& number);  // "2", "0.5", "NaN"

double real(const Json& number);  // NaN for what is not a number: JSON has no NaN and no infinity

using dist::counted;

using Numbers = std::vector<float>;  // small whole ones

std::string text(const Numbers& numbers);  // "{1, 2, 3}", long ones shortened
// The first one: "element 2 is 5 and not 7", or "3 elements and not 4".
std::string difference(const Numbers& expected, const Numbers& got);

// The text, with "(never written)" after the first number that a new tensor of a simulated run has
// (dist/sim/never_written.h), however it is printed.
std::string with_never_written(std::string text);

}  // namespace judge
