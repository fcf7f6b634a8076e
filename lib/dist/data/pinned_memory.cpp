#include "dist/data/pinned_memory.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist::data {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
}

}  // namespace

class PinnedMemory::Pages {
 public:
  // So many bytes, which the device knows while this lives.
  class Registered {
   public:
    Registered(std::shared_ptr<DeviceApi> api, Device device, std::size_t bytes)
        : api_(std::move(api)), device_(device), pages_(std::aligned_alloc(whole_pages(0), bytes)) {
      if (pages_ == nullptr) fail(Errc::resource, "no memory for a batch of {} bytes", bytes);
      try {
        api_->register_host(device_, pages_, bytes);
      } catch (...) {
        std::free(pages_);
        throw;
      }
    }
    Registered(Registered&& other) noexcept
        : api_(std::move(other.api_)), device_(other.device_), pages_(std::exchange(other.pages_, nullptr)) {}
    Registered& operator=(Registered&&) = delete;
    ~Registered() {
      if (pages_ == nullptr) return;
      api_->unregister_host(device_, pages_);
      std::free(pages_);
    }
    void* data() const { return pages_; }

   private:
    std::shared_ptr<DeviceApi> api_;
    Device device_;
    void* pages_;
  };

  explicit Pages(Device device) : api_(device_api(device.type).shared_from_this()), device_(device) {}

  Registered take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (auto unused = unused_.extract(bytes)) return std::move(unused.mapped());
    }
    return {api_, device_, bytes};
  }
  void give_back(std::size_t bytes, Registered pages) {
    const std::lock_guard lock(mutex_);
    unused_.emplace(bytes, std::move(pages));
  }

 private:
  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  std::mutex mutex_;
  std::multimap<std::size_t, Registered> unused_;  // by bytes
};

PinnedMemory::PinnedMemory(Device device) : pages_(std::make_shared<Pages>(device)) {}

Tensor PinnedMemory::empty(Shape shape, DType dtype) {
  const std::size_t bytes =
      whole_pages(static_cast<std::size_t>(checked_numel(shape, dtype)) * size_of(dtype));
  auto taken = std::make_shared<Pages::Registered>(pages_->take(bytes));
  void* const data = taken->data();
  return Tensor::from_blob(data, std::move(shape), dtype, cpu, [pages = pages_, taken, bytes](void*) {
    pages->give_back(bytes, std::move(*taken));
  });
}

}  // namespace dist::data
