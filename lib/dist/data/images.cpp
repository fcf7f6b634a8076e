#include "dist/data/images.h"

#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist::data {

Tensor normalised(std::span<const std::uint8_t> pixels, std::int64_t height,
                  const Normalisation& normalisation) {
  Tensor image = empty({1, height, static_cast<std::int64_t>(pixels.size()) / height}, DType::f32, cpu);
  const auto out = image.data<float>();
  const float scale = 1 / (255 * normalisation.deviation),
              shift = normalisation.mean / normalisation.deviation;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(pixels[i]) * scale - shift;
  return image;
}

Images::Images(Tensor pixels, Tensor labels, Normalisation normalisation)
    : pixels_(std::move(pixels)), labels_(std::move(labels)), normalisation_(normalisation) {
  if (pixels_.dtype() != DType::u8 || labels_.dtype() != DType::u8 || pixels_.dim() != 3 ||
      labels_.dim() != 1 || pixels_.size(0) != labels_.size(0) || pixels_.size(1) < 1 || pixels_.size(2) < 1)
    fail(Errc::invalid_argument,
         "Images needs pixels u8 [n, height, width] and labels u8 [n], not {} {} and {} {}",
         name(pixels_.dtype()), to_string(pixels_.shape()), name(labels_.dtype()),
         to_string(labels_.shape()));
}

Sample Images::get(std::int64_t index) const {
  if (index < 0 || index >= size())
    fail(Errc::invalid_argument, "there is no image {}: the dataset has {}, numbered from 0", index,
         counted(size(), "image"));
  const Tensor image = pixels_[index];
  Tensor label = empty({}, DType::i64, cpu);
  label.data<std::int64_t>()[0] =
      std::as_const(labels_).data<std::uint8_t>()[static_cast<std::size_t>(index)];
  return {normalised(image.data<std::uint8_t>(), image.size(0), normalisation_), std::move(label)};
}

}  // namespace dist::data
