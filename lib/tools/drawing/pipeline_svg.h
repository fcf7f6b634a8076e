// The timeline of a pipeline schedule as SVG. It is readable when projected, in light and in dark mode, and
// loads nothing from elsewhere.
#pragma once

#include <string>

#include "dist/parallel/pipeline/schedule.h"
#include "dist/parallel/pipeline/timeline.h"

namespace dist::pipeline {

// Returns a row per rank, a box per computation with the number of its micro-batch, and the title above.
// Later chunks are lighter.
std::string timeline_svg(const Timeline& timeline, const Shape& shape, const std::string& title);

}  // namespace dist::pipeline
