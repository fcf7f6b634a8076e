// A still of a run for a page, as SVG: the lanes of the player (slides/player/src/draw/lanes.ts). Each rank
// has a row, and time runs to the right. A line is a message, in its sender's colour; bars are calls, waits
// and computations; a green mark is an addition; a dashed red line is a message that no rank received.
#pragma once

#include <span>
#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

// The picture fits light and dark pages. Its only words are ranks' numbers and times, so that one file serves
// all languages; `title` is for those who cannot see it.
std::string to_svg(const Trace& trace);

// How several runs are drawn. Sizes are in pixels.
struct SvgOptions {
  double width = 800, row = 20;  // of the picture; of a rank
  // If positive: the tensor has this number of chunks, and each message shows which one it is, by a number
  // or by its colour.
  int chunks = 0;
  bool colours_by_chunk = false;
};

// Several runs, one below the other, on one time scale. Computations are boxes with their names, if they have
// any besides "compute"; red arrows of a deadlock lead from each rank to the one for which it waits.
std::string runs_to_svg(std::span<const Trace> runs, const SvgOptions& options = {});

}  // namespace dist::trace
