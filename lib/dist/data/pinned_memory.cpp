#include "dist/data/pinned_memory.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "dist/core/device/registered_pages.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist::data {

class PinnedMemory::Pages {
 public:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Room {
    std::unique_ptr<void, Free> memory;
    RegisteredPages pages;  // destroyed before the memory
  };

  // Throws Error{unsupported} if there is no such device.
  explicit Pages(Device device) : device_(device) { (void)device_api(device.type); }

  Room take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (auto unused = unused_.extract(bytes)) return std::move(unused.mapped());
    }
    std::unique_ptr<void, Free> memory(std::aligned_alloc(whole_pages(0), bytes));
    if (memory == nullptr) fail(Errc::resource, "no memory for a batch of {} bytes", bytes);
    RegisteredPages pages(device_, memory.get(), bytes);
    return {std::move(memory), std::move(pages)};
  }
  void give_back(std::size_t bytes, Room room) {
    const std::lock_guard lock(mutex_);
    unused_.emplace(bytes, std::move(room));
  }

 private:
  const Device device_;
  std::mutex mutex_;
  std::multimap<std::size_t, Room> unused_;  // by bytes
};

PinnedMemory::PinnedMemory(Device device) : pages_(std::make_shared<Pages>(device)) {}

Tensor PinnedMemory::empty(Shape shape, DType dtype) {
  const std::size_t bytes =
      whole_pages(static_cast<std::size_t>(checked_numel(shape, dtype)) * size_of(dtype));
  auto taken = std::make_shared<Pages::Room>(pages_->take(bytes));
  void* const data = taken->pages.data();
  return Tensor::from_blob(data, std::move(shape), dtype, cpu, [pages = pages_, taken, bytes](void*) {
    pages->give_back(bytes, std::move(*taken));
  });
}

}  // namespace dist::data
