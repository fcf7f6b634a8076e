// Greyscale pictures as PNG files, uncompressed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace distlab {

// pixels: width * height of them, row by row, 0 black.
std::string to_png(std::span<const std::uint8_t> pixels, std::uint32_t width);

}  // namespace distlab
