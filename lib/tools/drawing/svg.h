// A still of a run for a page, as SVG: the lanes of the player (slides/player/src/draw/lanes.ts). Each rank
// has a row, and time runs to the right. A line is a message, in its sender's colour; bars are calls, waits
// and computations; a green mark is an addition; a dashed red line is a message that no rank received.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

// The picture fits light and dark pages. Its only words are ranks' numbers and times, so that one file serves
// all languages; `title` is for those who cannot see it.
std::string to_svg(const Trace& trace);

}  // namespace dist::trace
