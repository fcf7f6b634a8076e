// What is written beside a mark of a diagram.
#pragma once

#include <string>
#include <vector>

#include "drawing/diagram.h"

namespace dist::trace {

// From the longest to the shortest; a drawing takes the first that fits. None: there is nothing to say.
// `ranks` are those of the trace.
std::vector<std::string> texts_of(const Mark& mark, int ranks);
// The same for a wait or a computation.
std::vector<std::string> texts_of_state(const Event& event);

}  // namespace dist::trace
