// Host memory that a device knows (`DeviceApi::register_host`): copies from and to it need no detour, and
// streams write and wait for flags in it.
#pragma once

#include <cstddef>
#include <memory>

#include "dist/core/device.h"

namespace dist {

// As many bytes as whole pages of host memory have, at least one page.
std::size_t whole_pages(std::size_t bytes);

// Pages that are registered while this lives. Whose memory they are is not its business: it must stay until
// then. Move-only.
class RegisteredPages {
 public:
  RegisteredPages() = default;  // none
  // `pages` begins a page, and `bytes` are whole pages. Error{unsupported} when there is no such device, and
  // what the device says when it refuses them.
  RegisteredPages(Device device, void* pages, std::size_t bytes);
  RegisteredPages(RegisteredPages&& other) noexcept;
  RegisteredPages& operator=(RegisteredPages&& other) noexcept;
  ~RegisteredPages();

  std::byte* data() const { return pages_; }  // null: none

 private:
  std::shared_ptr<DeviceApi> api_;  // the one they are registered with, whatever device_api() is later
  Device device_;
  std::byte* pages_ = nullptr;
};

}  // namespace dist
