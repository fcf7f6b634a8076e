#include "judge/frame.h"

#include <cerrno>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace judge {
namespace {

constexpr std::size_t header_bytes = 4;

std::size_t body_size(std::string_view header, std::size_t longest) {
  std::size_t size = 0;
  for (std::size_t i = header_bytes; i-- > 0;) size = size << 8 | static_cast<std::uint8_t>(header[i]);
  if (size > longest)
    throw std::runtime_error(fmt::format("a frame of {} bytes was announced; {} are allowed", size, longest));
  return size;
}

bool read_exactly(int fd, std::string& into, std::size_t bytes) {
  into.resize(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const auto got = ::read(fd, into.data() + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

// Nothing when `body` is not JSON.
std::optional<Json> parsed(std::string_view body) {
  auto message = Json::parse(body, nullptr, false);
  if (message.is_discarded()) return std::nullopt;
  return message;
}

}  // namespace

std::string frame_of(const Json& message) {
  const std::string body = message.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string frame;
  for (std::size_t i = 0; i < header_bytes; ++i) frame += static_cast<char>(body.size() >> 8 * i & 0xFF);
  return frame + body;
}

bool write_frame(int fd, const Json& message) {
  const std::string frame = frame_of(message);
  for (std::size_t done = 0; done < frame.size();) {
    const auto put = ::send(fd, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

std::optional<Json> read_frame(int fd) {
  std::string header, body;
  if (!read_exactly(fd, header, header_bytes) || !read_exactly(fd, body, body_size(header, longest_task)))
    return std::nullopt;
  return parsed(body);
}

void FrameReader::feed(std::span<const char> piece) {
  if (piece.size() > run_->bytes)
    throw std::runtime_error(
        fmt::format("the processes of a run may answer {} MiB, and this is more", most_answered >> 20));
  run_->bytes -= piece.size();
  pending_.erase(0, taken_);
  taken_ = 0;
  pending_.append(piece.data(), piece.size());
}

std::optional<Json> FrameReader::next() {
  const auto rest = std::string_view(pending_).substr(taken_);
  if (rest.size() < header_bytes) return std::nullopt;
  const auto size = body_size(rest, longest_answer);
  if (rest.size() < header_bytes + size) return std::nullopt;
  const auto body = rest.substr(header_bytes, size);
  if (++frames_ > most_) throw std::runtime_error(fmt::format("more than {} frames came", most_));
  const Shape shape = shape_of(body);
  if (shape.depth > deepest_value)
    throw std::runtime_error(
        fmt::format("an answer has {} arrays within each other; {} are allowed", shape.depth, deepest_value));
  if (shape.values > run_->values)
    throw std::runtime_error(
        fmt::format("the answers of a run may have {} values, and this is more", most_values));
  run_->values -= shape.values;
  auto message = parsed(body);
  if (!message) throw std::runtime_error("a frame is not JSON");
  taken_ += header_bytes + size;
  return message;
}

std::string to_hex(std::string_view bytes) {
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

std::string from_hex(std::string_view digits) {
  auto value = [](char digit) -> int {
    const auto at = std::string_view("0123456789abcdef").find(digit);
    if (at == std::string_view::npos) throw std::runtime_error("not hexadecimal");
    return static_cast<int>(at);
  };
  if (digits.size() % 2 != 0) throw std::runtime_error("not hexadecimal: an odd number of digits");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) << 4 | value(digits[i + 1]));
  }
  return bytes;
}

}  // namespace judge
