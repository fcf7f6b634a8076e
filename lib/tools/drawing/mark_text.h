// The texts beside the marks of a diagram.
#pragma once

#include <string>
#include <vector>

#include "drawing/diagram.h"

namespace dist::trace {

// Returns texts from the longest to the shortest, of which a drawing takes the first that fits; none for a
// mark without a text. `ranks` is the number of ranks of the trace.
std::vector<std::string> texts_of(const Mark& mark, int ranks);
// The same for a wait or a computation.
std::vector<std::string> texts_of_state(const Event& event);

}  // namespace dist::trace
