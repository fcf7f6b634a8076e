// How digits are written: several glyphs for each, which are strokes of a pen.
#pragma once

#include <vector>

namespace dist::data {

struct Point {
  double x, y;
};

// Points that the pen goes through, in a smooth curve. Two points are a straight line; a corner ends one
// stroke and begins another. Coordinates are in a square: x to the right, y downwards, each about 0 to 1.
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

// The ways to write this digit, 0 to 9; at least one.
const std::vector<Glyph>& glyphs_of(int digit);

}  // namespace dist::data
