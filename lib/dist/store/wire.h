// The store's protocol. A frame is a length (4 bytes, little-endian) and that many bytes of message. A
// connection opens with a greeting each way; then the client sends one request at a time and the server one
// reply to each.
//
//   greeting   magic u64, version u32, token, last will's key, last will's value
//   welcome    magic u64, Status, text (why not, when refused)
//   request    Command, then its arguments in the order of Store's declaration
//   reply      Status, then the result; missing keys with `timeout`, a text with `invalid`
//
// The last will counts from the client's first request on, because a greeting may be read long after its
// connection was abandoned. Integers are little-endian; strings and byte runs carry a u32 length; a time
// left is in ns, or -1 for forever.
#pragma once

#include <concepts>
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
inline constexpr std::size_t max_greeting = 4096;  // the limit on what a stranger can make the server hold

enum class Command { set, get, add, compare_set, wait, check, remove, num_keys, multi_get, append };
enum class Status : std::uint8_t { ok, timeout, invalid, refused };

class Writer {
 public:
  Writer();
  template <class Enum>
  explicit Writer(Enum code) : Writer() {
    static_assert(std::is_enum_v<Enum>);
    put(static_cast<std::uint8_t>(code));
  }

  Writer& put(std::integral auto value) {
    return put_integer(static_cast<std::uint64_t>(value), sizeof value);
  }
  Writer& put(ConstBytes bytes);
  Writer& put(std::string_view text) { return put(std::as_bytes(std::span(text))); }
  Writer& put(std::span<const std::string> texts);
  Writer& append(ConstBytes bytes);  // without a length

  std::size_t size() const { return frame_.size() - prefix_bytes; }
  Bytes finish();  // the frame, with its length filled in

 private:
  Writer& put_integer(std::uint64_t value, std::size_t bytes);
  Bytes frame_;
};

// Every get throws Error{connection} when the message is too short for it.
class Reader {
 public:
  explicit Reader(ConstBytes message) : rest_(message) {}

  template <std::integral T>
  T get() {
    return static_cast<T>(get_integer(sizeof(T)));
  }
  ConstBytes bytes() { return take(get<std::uint32_t>()); }
  std::string_view text();
  std::vector<std::string> texts();
  ConstBytes rest() const { return rest_; }
  void expect_end() const;

 private:
  std::uint64_t get_integer(std::size_t bytes);
  ConstBytes take(std::size_t n);
  ConstBytes rest_;
};

// The frame of a welcome; `refusal`: why not, or empty.
Bytes welcome(const std::string& refusal);

// The length in a frame's prefix.
std::uint32_t frame_length(ConstBytes prefix);

}  // namespace dist::wire
