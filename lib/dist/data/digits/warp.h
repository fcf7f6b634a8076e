// Where a point of a glyph is placed on the paper.
#pragma once

#include <array>

#include "dist/data/digits/draws.h"
#include "dist/data/digits/glyphs.h"

namespace dist::data {

// An affine map, then a smooth random displacement ("elastic"), both drawn once per image.
class Warp {
 public:
  // Maps onto a square image with `side` pixels per side.
  Warp(Draws& draws, double side);
  Point operator()(Point p) const;  // from the unit square to pixels

 private:
  static constexpr int nodes = 4;  // per side of the grid of displacements
  Point displacement(Point p) const;

  double xx_, xy_, yx_, yy_;  // the affine map
  Point centre_;
  std::array<Point, nodes * nodes> grid_;  // pixels
};

}  // namespace dist::data
