#include "dist/store/key_value_map.h"

#include <algorithm>
#include <charconv>

#include "dist/core/fail.h"

namespace dist {

const Bytes* KeyValueMap::find(std::string_view key) const {
  auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

void KeyValueMap::set(std::string_view key, ConstBytes value) {
  auto it = values_.find(key);
  if (it == values_.end()) it = values_.emplace(key, Bytes{}).first;
  it->second.assign(value.begin(), value.end());
}

bool KeyValueMap::remove(std::string_view key) {
  auto it = values_.find(key);
  if (it == values_.end()) return false;
  values_.erase(it);
  return true;
}

std::vector<std::string> KeyValueMap::missing(std::span<const std::string> keys) const {
  std::vector<std::string> absent;
  std::ranges::copy_if(keys, std::back_inserter(absent), [&](const auto& key) { return !find(key); });
  return absent;
}

std::int64_t add_to(std::string_view key, const Bytes* current, std::int64_t delta) {
  std::int64_t value = 0, sum = 0;
  if (current) {
    const std::string text = to_string(*current);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
      fail(Errc::invalid_argument, "store: add() on key '{}', whose value '{}' is not a number", key,
           text.substr(0, 40));
    }
  }
  if (__builtin_add_overflow(value, delta, &sum)) {
    fail(Errc::invalid_argument, "store: add({}) on key '{}' overflows its value {}", delta, key, value);
  }
  return sum;
}

bool matches(const Bytes* current, ConstBytes expected) {
  return current ? std::ranges::equal(*current, expected) : expected.empty();
}

void fail_missing(const std::vector<std::string>& missing, Deadline::Clock::time_point since,
                  const std::string& where) {
  constexpr std::size_t shown = 8;
  const std::size_t named = std::min(missing.size(), shown);
  std::string keys;
  for (std::size_t i = 0; i < named; ++i) keys += fmt::format("{}'{}'", i ? ", " : "", missing[i]);
  if (missing.size() > named) keys += fmt::format(" and {} more", missing.size() - named);
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now() - since);
  fail(Errc::timeout, "store {}: waited {} ms for key{} {}; is the rank that sets {} alive?", where,
       waited.count(), missing.size() == 1 ? "" : "s", keys, missing.size() == 1 ? "it" : "them");
}

}  // namespace dist
