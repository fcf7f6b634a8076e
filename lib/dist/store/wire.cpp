#include "dist/store/wire.h"

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::wire {

Writer::Writer() : frame_(prefix_bytes) {}

Writer& Writer::put_integer(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) frame_.push_back(static_cast<std::byte>(value >> (8 * i)));
  return *this;
}

Writer& Writer::put(ConstBytes bytes) { return put(static_cast<std::uint32_t>(bytes.size())).append(bytes); }

Writer& Writer::append(ConstBytes bytes) {
  frame_.insert(frame_.end(), bytes.begin(), bytes.end());
  return *this;
}

Writer& Writer::put(std::span<const std::string> texts) {
  put(static_cast<std::uint32_t>(texts.size()));
  for (const auto& text : texts) put(std::string_view(text));
  return *this;
}

Bytes Writer::finish() {
  auto length = static_cast<std::uint32_t>(size());
  for (std::size_t i = 0; i < prefix_bytes; ++i) frame_[i] = static_cast<std::byte>(length >> (8 * i));
  return std::move(frame_);
}

std::uint64_t Reader::get_integer(std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; const std::byte b : take(bytes))
    value |= static_cast<std::uint64_t>(b) << (8 * i++);
  return value;
}

ConstBytes Reader::take(std::size_t n) {
  if (n > rest_.size()) fail(Errc::connection, "message ends {} early", counted(n - rest_.size(), "byte"));
  const ConstBytes taken = rest_.first(n);
  rest_ = rest_.subspan(n);
  return taken;
}

std::string_view Reader::text() {
  const ConstBytes run = bytes();
  return {reinterpret_cast<const char*>(run.data()), run.size()};
}

std::vector<std::string> Reader::texts() {
  std::vector<std::string> all;
  // No reserve(): the count is only what the sender claims; that many bytes may not follow.
  for (auto n = get<std::uint32_t>(); n > 0; --n) all.emplace_back(text());
  return all;
}

void Reader::expect_end() const {
  if (!rest_.empty()) fail(Errc::connection, "message has {} too many", counted(rest_.size(), "byte"));
}

Bytes welcome(const std::string& refusal) {
  Writer frame;
  frame.put(magic).put(static_cast<std::uint8_t>(refusal.empty() ? Status::ok : Status::refused));
  return frame.put(std::string_view(refusal)).finish();
}

std::uint32_t frame_length(ConstBytes prefix) { return Reader(prefix).get<std::uint32_t>(); }

}  // namespace dist::wire
