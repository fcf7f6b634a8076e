#include "distlab/data/png.h"

#include <algorithm>
#include <string_view>

#include "dist/core/crc32.h"

namespace distlab {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string four;
  for (int shift = 24; shift >= 0; shift -= 8) four += static_cast<char>(number >> shift & 0xff);
  return four;
}

std::uint32_t adler32(std::string_view text) {
  std::uint32_t a = 1, b = 0;
  for (const char c : text) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(dist::crc32(std::as_bytes(std::span(body))));
}

// Returns the data in the format of zlib, in stored (uncompressed) blocks (RFC 1950 and 1951).
std::string stored(std::string_view data) {
  std::string all = "\x78\x01";
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t size = std::min<std::size_t>(data.size() - at, 65535);
    all += static_cast<char>(at + size == data.size());
    for (const std::size_t number : {size, ~size}) {
      all += static_cast<char>(number & 0xff);
      all += static_cast<char>(number >> 8 & 0xff);
    }
    all += data.substr(at, size);
    at += size;
  }
  return all + big_endian(adler32(data));
}

}  // namespace

std::string to_png(std::span<const std::uint8_t> pixels, std::uint32_t width) {
  const auto height = static_cast<std::uint32_t>(pixels.size() / width);
  std::string rows;
  for (std::uint32_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    for (const auto pixel : pixels.subspan(std::size_t{y} * width, width)) rows += static_cast<char>(pixel);
  }
  const std::string_view greyscale("\x08\x00\x00\x00\x00", 5);  // 8 bits per pixel, not interlaced
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(width) + big_endian(height) + std::string(greyscale)) +
         chunk("IDAT", stored(rows)) + chunk("IEND", "");
}

}  // namespace distlab
