#include "dist/data/digits.h"

#include <algorithm>
#include <cstddef>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/data/digits/draws.h"
#include "dist/data/digits/glyphs.h"
#include "dist/data/digits/pen.h"
#include "dist/data/digits/warp.h"

namespace dist::data {
namespace {

// The point between b and c on the curve through a, b, c and d (Catmull and Rom 1974), for `t` from 0 to 1.
Point between(Point a, Point b, Point c, Point d, double t) {
  const auto along = [t](double p, double q, double r, double s) {
    return q + t / 2 * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
  };
  return {along(a.x, b.x, c.x, d.x), along(a.y, b.y, c.y, d.y)};
}

void draw(Pen& pen, const Stroke& stroke, const Warp& warp) {
  constexpr int steps = 6;  // straight pieces between two points
  const auto at = [&](std::size_t i, int offset) {
    const auto last = static_cast<std::ptrdiff_t>(stroke.size()) - 1;
    return stroke[static_cast<std::size_t>(
        std::clamp(static_cast<std::ptrdiff_t>(i) + offset, std::ptrdiff_t{0}, last))];
  };
  Point from = warp(stroke.front());
  for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
    for (int step = 1; step <= steps; ++step) {
      const Point to =
          warp(between(at(i, -1), at(i, 0), at(i, 1), at(i, 2), static_cast<double>(step) / steps));
      pen.line(from, to);
      from = to;
    }
  }
}

}  // namespace

DigitImage draw_digit(std::uint64_t seed, std::int64_t index) {
  Draws draws(seed, static_cast<std::uint64_t>(index));
  DigitImage image{};
  image.label = draws.below(10);
  const auto& glyphs = glyphs_of(image.label);
  const Glyph& glyph = glyphs[static_cast<std::size_t>(draws.below(static_cast<int>(glyphs.size())))];
  const Warp warp(draws, static_cast<double>(DigitImage::side));
  Pen pen(draws.between(0.6, 1.7));
  for (Stroke stroke : glyph) {
    for (auto& point : stroke) point = {point.x + draws.bell(0.02), point.y + draws.bell(0.02)};
    draw(pen, stroke, warp);
  }
  const double ink = draws.between(175, 255), grain = draws.between(0, 22);
  const auto darkness = pen.darkness();
  for (std::size_t i = 0; i < darkness.size(); ++i)
    image.pixels[i] =
        static_cast<std::uint8_t>(std::clamp(ink * darkness[i] + draws.between(-grain, grain), 0., 255.));
  return image;
}

Digits::Digits(std::int64_t size, std::uint64_t seed) : size_(size), seed_(seed) {
  if (size < 0) fail(Errc::invalid_argument, "Digits: {} images; at least 0 are needed", size);
}

Sample Digits::get(std::int64_t index) const {
  if (index < 0 || index >= size_)
    fail(Errc::invalid_argument, "there is no digit {}: the collection has {}, numbered from 0", index,
         counted(size_, "digit"));
  const auto image = draw_digit(seed_, index);
  Tensor label = empty({}, DType::i64, cpu);
  label.data<std::int64_t>()[0] = image.label;
  return {normalised(image.pixels, DigitImage::side, digits_normalisation), std::move(label)};
}

}  // namespace dist::data
