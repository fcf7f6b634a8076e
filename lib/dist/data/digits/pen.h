// A round pen on a small sheet of paper.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dist/data/digits.h"
#include "dist/data/digits/glyphs.h"

namespace dist::data {

// Ink is stored as the distance from the pen's path, so that lines are smooth and crossings are not darker
// than lines.
class Pen {
 public:
  explicit Pen(double radius);  // pixels
  void line(Point from, Point to);
  // How dark each pixel is, 0 to 1, row by row.
  std::array<double, DigitImage::side * DigitImage::side> darkness() const;

 private:
  double reach_;                                                     // where the ink ends
  std::array<double, DigitImage::side * DigitImage::side> squared_;  // distances
};

}  // namespace dist::data
