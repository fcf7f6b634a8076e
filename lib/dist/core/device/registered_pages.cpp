#include "dist/core/device/registered_pages.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "dist/core/round_up.h"

namespace dist {

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::max(page, round_up(bytes, page));
}

RegisteredPages::RegisteredPages(Device device, void* pages, std::size_t bytes)
    : api_(device_api(device.type).shared_from_this()), device_(device) {
  api_->register_host(device_, pages, bytes);
  pages_ = static_cast<std::byte*>(pages);
}

RegisteredPages::RegisteredPages(RegisteredPages&& other) noexcept
    : api_(std::move(other.api_)), device_(other.device_), pages_(std::exchange(other.pages_, nullptr)) {}

RegisteredPages& RegisteredPages::operator=(RegisteredPages&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(pages_, other.pages_);
  return *this;
}

RegisteredPages::~RegisteredPages() {
  if (pages_ != nullptr) api_->unregister_host(device_, pages_);
}

}  // namespace dist
