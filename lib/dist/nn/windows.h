// Where the windows of a convolution or a pooling are: index arithmetic, written once for all layers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dist/core/tensor.h"

namespace dist::nn {

// Square windows that move in steps over an image with `padding` zeros at each border.
struct Windows {
  std::int64_t kernel = 1, stride = 1, padding = 0;

  friend bool operator==(const Windows&, const Windows&) = default;

  // How many windows fit into `size` pixels; 0 if the image is smaller than one.
  std::int64_t count(std::int64_t size) const {
    const std::int64_t room = size + 2 * padding - kernel;
    return room < 0 ? 0 : room / stride + 1;
  }
  // The range [first, last) of those windows [0, count) for which pixel `tap` of the kernel is inside the
  // image.
  std::int64_t first_inside(std::int64_t tap) const {
    return tap >= padding ? 0 : (padding - tap + stride - 1) / stride;
  }
  std::int64_t last_inside(std::int64_t tap, std::int64_t size) const {
    const std::int64_t room = size - 1 + padding - tap;
    return room < 0 ? 0 : std::min(count(size), room / stride + 1);
  }
};

struct ConvolutionShape {
  Shape input;  // [n, c, h, w]
  std::int64_t out_channels = 1;
  Windows windows;

  Shape output() const { return {input[0], out_channels, windows.count(input[2]), windows.count(input[3])}; }
  Shape weight() const { return {out_channels, input[1], windows.kernel, windows.kernel}; }
  friend bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

}  // namespace dist::nn
