// CRC-32 as in zip, PNG and Ethernet (python3: zlib.crc32): detects bytes of a file that changed by accident.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dist {

namespace crc32_detail {

// The remainder of each byte, divided by the reflected polynomial.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ 0xEDB88320U : rest >> 1;
    table[byte] = rest;
  }
  return table;
}
inline constexpr auto table = make_table();

}  // namespace crc32_detail

// The checksum of `bytes`, or of the bytes whose checksum is `before`, followed by these.
constexpr std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  std::uint32_t rest = ~before;
  for (const std::byte byte : bytes)
    rest = rest >> 8 ^ crc32_detail::table[(rest ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  return ~rest;
}

}  // namespace dist
