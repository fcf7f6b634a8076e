// Host memory that a device knows (`DeviceApi::register_host`): copies from and to it need no detour, and
// streams write and wait for flags in it.
#pragma once

#include <cstddef>
#include <memory>

#include "dist/core/device.h"

namespace dist {

// The size in bytes of the whole pages of host memory that hold `bytes` bytes; at least one page.
std::size_t whole_pages(std::size_t bytes);

// Pages that are registered while this lives. It does not own them: the memory must stay until then.
// Move-only.
class RegisteredPages {
 public:
  RegisteredPages() = default;  // none
  // `pages` begins at a page boundary, and `bytes` is a multiple of the page size. Throws Error{unsupported}
  // when there is no such device, and the device's own error when it refuses them.
  RegisteredPages(Device device, void* pages, std::size_t bytes);
  RegisteredPages(RegisteredPages&& other) noexcept;
  RegisteredPages& operator=(RegisteredPages&& other) noexcept;
  ~RegisteredPages();

  std::byte* data() const { return pages_; }  // null: none

 private:
  std::shared_ptr<DeviceApi> api_;  // the one that they are registered with, whatever device_api() is later
  Device device_;
  std::byte* pages_ = nullptr;
};

}  // namespace dist
