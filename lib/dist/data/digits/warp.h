// Where a point of a glyph comes to lie on the paper.
#pragma once

#include <array>

#include "dist/data/digits/draws.h"
#include "dist/data/digits/glyphs.h"

namespace dist::data {

// An affine map, then a smooth random displacement ("elastic"), both drawn once for an image.
class Warp {
 public:
  // Onto a square image of that many pixels a side.
  Warp(Draws& draws, double side);
  Point operator()(Point p) const;  // from the unit square to pixels

 private:
  static constexpr int nodes = 4;  // a side of the grid of displacements
  Point displacement(Point p) const;

  double xx_, xy_, yx_, yy_;  // of the affine map
  Point centre_;
  std::array<Point, nodes * nodes> grid_;  // pixels
};

}  // namespace dist::data
