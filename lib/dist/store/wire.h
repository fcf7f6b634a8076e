// The store's protocol. A frame is a length (4 bytes, little-endian) and that many bytes of message. A
// connection opens with a greeting each way; then the client sends one request at a time and the server one
// reply to each.
//
//   greeting   magic u64, version u32, token, last will's key, last will's value
//   welcome    magic u64, Status, text (why not, when refused)
//   request    Request, then its arguments in the order of Store's declaration
//   reply      Status, then the result; missing keys with `timeout`, a text with `invalid`
//
// Integers are little-endian; strings and byte runs carry a u32 length; a time left is in ns, -1 for ever.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dist/store/store.h"

namespace dist::wire {

inline constexpr std::uint64_t magic = 0x2462616c74736964;  // "distlab$"
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t prefix_bytes = 4;
inline constexpr std::size_t max_frame = std::size_t{64} << 20;  // bytes, prefix excluded
inline constexpr std::size_t max_greeting = 4096;                // a stranger may not make us hold more

enum class Request : std::uint8_t { set, get, add, compare_set, wait, check, remove, num_keys };
enum class Status : std::uint8_t { ok, timeout, invalid, refused };

class Writer {
 public:
  Writer() : frame_(prefix_bytes) {}
  template <class Code>
  requires std::is_enum_v<Code>
  explicit Writer(Code code) : Writer() { put(static_cast<std::uint8_t>(code)); }

  template <class T>
  requires std::is_integral_v<T> Writer& put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      frame_.push_back(static_cast<std::byte>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * i)));
    }
    return *this;
  }
  Writer& put(ConstBytes bytes);
  Writer& put(std::string_view text) { return put(std::as_bytes(std::span(text))); }
  Writer& put(std::span<const std::string> texts);
  Writer& append(ConstBytes bytes);  // without a length

  std::size_t size() const { return frame_.size() - prefix_bytes; }
  Bytes finish();  // the frame, with its length filled in

 private:
  Bytes frame_;
};

// Every get throws Error{connection} when the message is shorter than that.
class Reader {
 public:
  explicit Reader(ConstBytes message) : rest_(message) {}

  template <class T>
  requires std::is_integral_v<T> T get() {
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = 0; const std::byte b : take(sizeof(T))) {
      value |= static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(b) << (8 * i++));
    }
    return static_cast<T>(value);
  }
  ConstBytes bytes() { return take(get<std::uint32_t>()); }
  std::string_view text();
  std::vector<std::string> texts();
  ConstBytes rest() const { return rest_; }
  void expect_end() const;

 private:
  ConstBytes take(std::size_t n);
  ConstBytes rest_;
};

// The length in a frame's prefix.
std::uint32_t frame_length(ConstBytes prefix);

}  // namespace dist::wire
