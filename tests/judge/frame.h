// Frames of the private channel between the grader and a rank's process: a 4-byte length (little endian),
// then that many bytes of JSON text. Bytes that need not be UTF-8 travel as hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "judge/bounds.h"

namespace judge {

using Json = nlohmann::json;  // code that makes or reads one includes <nlohmann/json.hpp>

inline constexpr std::size_t longest_task = std::size_t{16} << 20;  // bytes of one that the grader sends
inline constexpr int channel_fd = 3;                                // where a rank's process finds its end
inline constexpr int line_fd = 4;  // and that of its only other socket, to its simulation or to a store

// The bytes of a frame.
std::string frame_of(const Json& message);

// Blocks until all is written, so only a process that is not trusted calls it. False when the other side is
// gone.
bool write_frame(int fd, const Json& message);

// Blocks, likewise. Nothing at the end of the stream or when what came is not a frame.
std::optional<Json> read_frame(int fd);

// Puts together frames from pieces as they arrive from a process that is not trusted, within the bounds of
// bounds.h: it keeps no more than one frame, and makes no value before it has counted all of them.
class FrameReader {
 public:
  // `run`: shared by the readers of all processes of the run.
  explicit FrameReader(std::shared_ptr<Allowance> run = std::make_shared<Allowance>())
      : run_(std::move(run)) {}
  // Both throw std::runtime_error when the bytes are not a frame, or more than the process may say.
  void feed(std::span<const char> piece);
  std::optional<Json> next();  // the next complete frame
  void allow(int frames) { most_ += frames; }

 private:
  std::shared_ptr<Allowance> run_;
  std::string pending_;
  std::size_t taken_ = 0;  // of pending_
  int frames_ = 0, most_ = most_frames;
};

std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view digits);  // Throws std::runtime_error on anything else.

}  // namespace judge
