// Queues by tickets: pushes and pops are counted (<key>/tail and <key>/head), and the pop with number n takes
// what the push with number n has put at <key>/n. A pop that gives up leaves a mark there, and the push that
// finds it takes the next number.
#include <algorithm>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/store/store.h"

namespace dist {
namespace {

constexpr std::byte is_value{1}, is_given_up{0};

std::string place(std::string_view key, std::int64_t number) { return fmt::format("{}/{}", key, number); }
std::string tail(std::string_view key) { return fmt::format("{}/tail", key); }
std::string head(std::string_view key) { return fmt::format("{}/head", key); }

}  // namespace

void Store::queue_push(std::string_view key, ConstBytes value) {
  Bytes marked{is_value};
  marked.insert(marked.end(), value.begin(), value.end());
  while (true) {
    const std::string at = place(key, add(tail(key), 1));
    if (compare_set(at, {}, marked).front() == is_value) return;
    remove(at);
  }
}

void Store::queue_push(std::string_view key, std::string_view text) {
  queue_push(key, std::as_bytes(std::span(text)));
}

Bytes Store::queue_pop(std::string_view key, Deadline deadline) {
  const std::string at = place(key, add(head(key), 1));
  Bytes value;
  try {
    value = get(at, deadline);
  } catch (const Error&) {
    value = compare_set(at, {}, std::span(&is_given_up, 1));
    if (value.front() == is_given_up) throw;
  }
  remove(at);
  value.erase(value.begin());
  return value;
}

std::int64_t Store::queue_len(std::string_view key) {
  return std::max<std::int64_t>(add(tail(key), 0) - add(head(key), 0), 0);
}

}  // namespace dist
