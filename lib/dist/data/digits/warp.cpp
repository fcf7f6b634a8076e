#include "dist/data/digits/warp.h"

#include <algorithm>
#include <cstddef>

namespace dist::data {

Warp::Warp(Draws& draws, double side) {
  // The rotation by twice the angle whose tangent is t needs no sine, which mathematical libraries round
  // differently.
  const double t = std::clamp(draws.bell(0.06), -0.16, 0.16);  // about 7 degrees, never more than 18
  const double cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
  const double slant = draws.bell(0.16);
  const double height = side * draws.between(0.54, 0.72), width = height * draws.between(0.62, 1.05);
  xx_ = cosine * width;
  xy_ = (-sine - slant * cosine) * height;
  yx_ = sine * width;
  yy_ = (cosine - slant * sine) * height;
  centre_ = {side / 2 + draws.bell(side * 0.04), side / 2 + draws.bell(side * 0.04)};
  for (auto& node : grid_) node = {draws.bell(side * 0.028), draws.bell(side * 0.028)};
}

Point Warp::operator()(Point p) const {
  const double x = p.x - 0.5, y = p.y - 0.5;
  const Point moved = displacement(p);
  return {centre_.x + xx_ * x + xy_ * y + moved.x, centre_.y + yx_ * x + yy_ * y + moved.y};
}

// Interpolates between the nodes of the grid, smoothly: slopes are 0 at each node.
Point Warp::displacement(Point p) const {
  const auto place = [](double at) {
    const double scaled = std::clamp(at, 0., 1.) * (nodes - 1);
    const int cell = std::min(static_cast<int>(scaled), nodes - 2);
    const double rest = scaled - cell;
    return std::pair(static_cast<std::size_t>(cell), rest * rest * (3 - 2 * rest));
  };
  const auto [column, right] = place(p.x);
  const auto [row, down] = place(p.y);
  const auto mix = [](Point a, Point b, double share) {
    return Point{a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
  };
  const auto at = [&](std::size_t r, std::size_t c) { return grid_[r * nodes + c]; };
  return mix(mix(at(row, column), at(row, column + 1), right),
             mix(at(row + 1, column), at(row + 1, column + 1), right), down);
}

}  // namespace dist::data
