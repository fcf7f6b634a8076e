// Generated digits: as many images of handwritten-looking digits as one likes, without any file. Not MNIST,
// but made for the same lessons: ten classes, 28 x 28 pixels, a linear model does poorly and a small ConvNet
// well.
#pragma once

#include <array>
#include <cstdint>

#include "dist/data/images.h"

namespace dist::data {

struct DigitImage {
  static constexpr std::int64_t side = 28;
  std::array<std::uint8_t, side * side> pixels;  // row by row; 0: paper, 255: ink
  int label;                                     // 0 ... 9
};

// Image `index` of the collection `seed`. A function of these two alone: the same on every machine, in every
// thread, whatever was drawn before. A glyph of the digit (one of several ways to write it) is drawn by a
// pen, after its points were moved: each a little by itself, all by one affine map, then by a smooth random
// field; noise comes last.
DigitImage draw_digit(std::uint64_t seed, std::int64_t index);

// Mean and deviation of the pixels of a large collection.
inline constexpr Normalisation digits_normalisation{0.103F, 0.2423F};

// The first `size` images of a collection, drawn when they are asked for. Take another seed for the test set.
class Digits : public Dataset {
 public:
  // Error{invalid_argument} for a negative size.
  explicit Digits(std::int64_t size, std::uint64_t seed = 1);

  std::int64_t size() const override { return size_; }
  // input f32 [1, 28, 28], target i64 [].
  Sample get(std::int64_t index) const override;

 private:
  std::int64_t size_;
  std::uint64_t seed_;
};

}  // namespace dist::data
