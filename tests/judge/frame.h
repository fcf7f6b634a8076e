// Frames of the private channel between the judge and a rank's process: a 4-byte length (little endian), then
// that many bytes of JSON text. Bytes that need not be UTF-8 travel as hexadecimal digits.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace judge {

using Json = nlohmann::json;  // who makes or reads one includes <nlohmann/json.hpp>

inline constexpr std::size_t max_frame_bytes = std::size_t{16} << 20;
inline constexpr int channel_fd = 3;  // where a rank's process finds its end
inline constexpr int line_fd = 4;  // and the one further socket it may have: to its simulation, or to a store

// Blocks until all is written. False when the other side is gone.
bool write_frame(int fd, const Json& message);

// Blocks. Nothing at the end of the stream or when what came is no frame.
std::optional<Json> read_frame(int fd);

// Puts together frames from pieces as they arrive from a process that is not trusted.
class FrameReader {
 public:
  void feed(std::span<const char> piece) { pending_.append(piece.data(), piece.size()); }
  // The next complete frame. Throws std::runtime_error when the bytes are no frame.
  std::optional<Json> next();

 private:
  std::string pending_;
};

std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view digits);  // Throws std::runtime_error on anything else.

}  // namespace judge
