#include "dist/store/store.h"

#include <algorithm>

namespace dist {

Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string to_string(ConstBytes bytes) {
  std::string text(bytes.size(), '\0');
  std::ranges::transform(bytes, text.begin(), [](std::byte b) { return static_cast<char>(b); });
  return text;
}

void Store::set(std::string_view key, std::string_view text) { set(key, std::as_bytes(std::span(text))); }

std::string Store::get_text(std::string_view key, Deadline deadline) { return to_string(get(key, deadline)); }

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> inner)
    : prefix_(std::move(prefix) + '/'), inner_(std::move(inner)) {}

std::string PrefixStore::full(std::string_view key) const { return prefix_ + std::string(key); }

void PrefixStore::set(std::string_view key, ConstBytes value) { inner_->set(full(key), value); }

Bytes PrefixStore::get(std::string_view key, Deadline deadline) { return inner_->get(full(key), deadline); }

std::vector<Bytes> PrefixStore::multi_get(std::span<const std::string> keys, Deadline deadline) {
  return inner_->multi_get(full(keys), deadline);
}

std::int64_t PrefixStore::add(std::string_view key, std::int64_t delta) {
  return inner_->add(full(key), delta);
}

Bytes PrefixStore::compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) {
  return inner_->compare_set(full(key), expected, desired);
}

std::vector<std::string> PrefixStore::full(std::span<const std::string> keys) const {
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(full(key));
  return names;
}

void PrefixStore::wait(std::span<const std::string> keys, Deadline deadline) {
  inner_->wait(full(keys), deadline);
}

bool PrefixStore::check(std::span<const std::string> keys) { return inner_->check(full(keys)); }

bool PrefixStore::remove(std::string_view key) { return inner_->remove(full(key)); }

std::int64_t PrefixStore::num_keys() { return inner_->num_keys(); }

std::string PrefixStore::where() const { return inner_->where(); }

}  // namespace dist
