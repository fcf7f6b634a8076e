#include "dist/data/digits/pen.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dist::data {
namespace {

constexpr double soft = 1;  // pixels from ink to paper

}  // namespace

Pen::Pen(double radius) : reach_(radius + soft / 2) { squared_.fill(reach_ * reach_); }

void Pen::line(Point from, Point to) {
  const auto cells = [this](double a, double b) {
    const double last = DigitImage::side - 1;
    return std::pair(static_cast<int>(std::ceil(std::clamp(std::min(a, b) - reach_, 0., last + 1))),
                     static_cast<int>(std::floor(std::clamp(std::max(a, b) + reach_, -1., last))));
  };
  const auto [left, right] = cells(from.x, to.x);
  const auto [top, bottom] = cells(from.y, to.y);
  const double dx = to.x - from.x, dy = to.y - from.y, length = dx * dx + dy * dy;
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double px = x - from.x, py = y - from.y;
      const double along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0., 1.) : 0;
      const double ex = px - along * dx, ey = py - along * dy;
      double& nearest = squared_[static_cast<std::size_t>(y * DigitImage::side + x)];
      nearest = std::min(nearest, ex * ex + ey * ey);
    }
  }
}

std::array<double, DigitImage::side * DigitImage::side> Pen::darkness() const {
  std::array<double, DigitImage::side * DigitImage::side> dark{};
  for (std::size_t i = 0; i < dark.size(); ++i)
    dark[i] = std::clamp((reach_ - std::sqrt(squared_[i])) / soft, 0., 1.);
  return dark;
}

}  // namespace dist::data
