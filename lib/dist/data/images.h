// Greyscale images with labels, in memory.
#pragma once

#include <cstdint>
#include <span>

#include "dist/data/dataset.h"

namespace dist::data {

// A pixel p of 0 (paper) ... 255 (ink) becomes (p / 255 - mean) / deviation, so that the inputs of a model
// have mean 0 and standard deviation 1.
struct Normalisation {
  float mean = 0, deviation = 1;
};

// height * width pixels as f32 [1, height, width].
Tensor normalised(std::span<const std::uint8_t> pixels, std::int64_t height,
                  const Normalisation& normalisation);

class Images : public Dataset {
 public:
  // pixels u8 [n, height, width], labels u8 [n]: kept, not copied. Throws Error{invalid_argument} if they do
  // not fit each other.
  Images(Tensor pixels, Tensor labels, Normalisation normalisation);

  std::int64_t size() const override { return labels_.size(0); }
  // input f32 [1, height, width], target i64 [].
  Sample get(std::int64_t index) const override;

  const Tensor& pixels() const { return pixels_; }
  const Tensor& labels() const { return labels_; }

 private:
  Tensor pixels_, labels_;
  Normalisation normalisation_;
};

}  // namespace dist::data
