// Makes uncompressed PNG files of greyscale pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace distlab {

// `pixels` are width * height values, row by row; 0 is black.
std::string to_png(std::span<const std::uint8_t> pixels, std::uint32_t width);

}  // namespace distlab
