#include "distlab/data/pictures.h"

#include <vector>

#include <fmt/format.h>

#include "distlab/data/png.h"

namespace distlab {
namespace {

using dist::data::DigitImage;
constexpr auto side = static_cast<std::size_t>(DigitImage::side);
constexpr std::uint8_t dark = 96;  // a pixel this dark becomes a dot

// The eight dots of a Braille character, U+2800 and the bits of its dots, as UTF-8.
std::string braille(const DigitImage& digit, std::size_t left, std::size_t top) {
  constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  unsigned dots = 0;
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 2; ++x) {
      if (digit.pixels[(top + y) * side + left + x] >= dark) dots |= bits[y][x];
    }
  }
  return {'\xe2', static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
}

}  // namespace

std::string in_terminal(std::span<const DigitImage> digits) {
  std::string text;
  for (std::size_t top = 0; top < side; top += 4) {
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (i > 0) text += "  ";
      for (std::size_t left = 0; left < side; left += 2) text += braille(digits[i], left, top);
    }
    text += '\n';
  }
  for (std::size_t i = 0; i < digits.size(); ++i)
    text += fmt::format("{}{:^14}", i > 0 ? "  " : "", digits[i].label);
  return text + '\n';
}

std::string contact_sheet(std::span<const DigitImage> digits, std::size_t columns) {
  constexpr std::size_t cell = side + 2;  // a white frame around each
  const std::size_t rows = (digits.size() + columns - 1) / columns, width = columns * cell;
  std::vector<std::uint8_t> pixels(rows * cell * width, 255);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t corner = (i / columns * cell + 1) * width + i % columns * cell + 1;
    for (std::size_t p = 0; p < digits[i].pixels.size(); ++p)
      pixels[corner + p / side * width + p % side] = static_cast<std::uint8_t>(255 - digits[i].pixels[p]);
  }
  return to_png(pixels, static_cast<std::uint32_t>(width));
}

}  // namespace distlab
