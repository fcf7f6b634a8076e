// The lanes of one run, as SVG: a row per rank, time to the right (slides/player/src/draw/lanes.ts).
#pragma once

#include <cstdint>
#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

// Where lanes are in a picture, in pixels, which time ends at their right edge, and what they show.
struct LanesFrame {
  double width = 0, top = 0, row = 0;
  std::int64_t duration = 0;
  double tick = 0;         // between two times, in picoseconds; 0: as the player chooses
  bool has_boxes = false;  // computations are boxes, in which their names are
  bool has_waits = false;  // of a deadlock: which rank waits for which
  int chunks = 0;          // see SvgOptions
  bool colours_by_chunk = false;
};

// The end of what is drawn. Ranks that wait for each other do so until a timeout, which is thousands of times
// as long as everything before it. As in the player, most of that wait is cut off.
std::int64_t drawn_duration(const Trace& trace);

std::string lanes_svg(const Trace& trace, const LanesFrame& frame);
// The times below the lanes; `bottom` is the lower edge of the picture.
std::string ticks_svg(const LanesFrame& frame, double bottom);

}  // namespace dist::trace
