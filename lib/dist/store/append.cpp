// append(): the new value, and what a store without it says.
#include "dist/core/fail.h"
#include "dist/store/key_value_map.h"
#include "dist/store/wire.h"

namespace dist {

Bytes appended(std::string_view key, const Bytes* current, ConstBytes more) {
  constexpr std::size_t most = wire::max_frame - 64;  // the rest of a reply
  Bytes value = current ? *current : Bytes{};
  if (value.size() + more.size() > most) {
    fail(Errc::invalid_argument, "store: append() would give key '{}' a value of {} bytes; it may have {}",
         key, value.size() + more.size(), most);
  }
  value.insert(value.end(), more.begin(), more.end());
  return value;
}

void Store::append(std::string_view key, ConstBytes) {
  fail(Errc::unsupported, "store {}: append() on key '{}': this store has no append; implement Store::append",
       where(), key);
}

void Store::append(std::string_view key, std::string_view text) {
  append(key, std::as_bytes(std::span(text)));
}

void PrefixStore::append(std::string_view key, ConstBytes value) { inner_->append(full(key), value); }

}  // namespace dist
