// Generated digits: any number of images of handwritten-looking digits, without any file. They are not MNIST,
// but serve the same lessons: ten classes, 28 x 28 pixels, on which a linear model does poorly and a small
// ConvNet well.
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

// Image `index` of the collection `seed`: a function of these two alone, the same on every machine and in
// every thread, whatever was drawn before. A pen draws a glyph of the digit (one of several ways to write it)
// after its points were moved: each a little by itself, all by one affine map, then by a smooth random field;
// noise is added last.
DigitImage draw_digit(std::uint64_t seed, std::int64_t index);

// Mean and standard deviation of the pixels of a large collection.
inline constexpr Normalisation digits_normalisation{0.103F, 0.2423F};

// The first `size` images of a collection, drawn on demand. Use another seed for the test set.
class Digits : public Dataset {
 public:
  // Throws Error{invalid_argument} for a negative size.
  explicit Digits(std::int64_t size, std::uint64_t seed = 1);

  std::int64_t size() const override { return size_; }
  // input f32 [1, 28, 28], target i64 [].
  Sample get(std::int64_t index) const override;

 private:
  std::int64_t size_;
  std::uint64_t seed_;
};

}  // namespace dist::data
