// Several keys at once, for stores that have no request for it.
#include "dist/core/fail.h"
#include "dist/store/store.h"

namespace dist {

std::vector<Bytes> Store::multi_get(std::span<const std::string> keys, Deadline deadline) {
  wait(keys, deadline);
  std::vector<Bytes> values;
  for (const auto& key : keys) values.push_back(get(key, deadline));
  return values;
}

void Store::multi_set(std::span<const std::string> keys, std::span<const Bytes> values) {
  if (keys.size() != values.size())
    fail(Errc::invalid_argument, "store {}: multi_set() of {} keys and {} values", where(), keys.size(),
         values.size());
  for (std::size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}

}  // namespace dist
