// The meaning of a store's calls, written once for the memory, file and TCP stores. Not synchronised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/store/store.h"

namespace dist {

class KeyValueMap {
 public:
  const Bytes* find(std::string_view key) const;  // nullptr: absent
  void set(std::string_view key, ConstBytes value);
  bool remove(std::string_view key);
  std::vector<std::string> missing(std::span<const std::string> keys) const;
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }

 private:
  std::map<std::string, Bytes, std::less<>> values_;
};

// The counter `current` (nullptr: absent) plus `delta`. Throws Error{invalid_argument} if it is not a number
// or overflows.
std::int64_t add_to(std::string_view key, const Bytes* current, std::int64_t delta);
// The value `current` (nullptr: absent) with `more` at its end. Throws Error{invalid_argument} if no get()
// could return it.
Bytes appended(std::string_view key, const Bytes* current, ConstBytes more);
// Whether compare_set() may replace `current`.
bool matches(const Bytes* current, ConstBytes expected);

// Throws Error{timeout}, which names the keys that never came and says how long it waited.
[[noreturn]] void fail_missing(const std::vector<std::string>& missing, Deadline::Clock::time_point since,
                               const std::string& where);

}  // namespace dist
