#include "dist/direct/device/device_maps.h"

#include <cstring>
#include <random>

#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {

std::uint64_t process_number() {
  static const std::uint64_t job = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return job ^ static_cast<std::uint64_t>(::getpid());
}

DeviceMaps::DeviceMaps(Device device) : api_(device_api(device.type).shared_from_this()), device_(device) {}

DeviceMaps::~DeviceMaps() {
  for (const auto& [key, base] : mapped_) api_->release_import(device_, base);
}

bool DeviceMaps::knows(const TensorView& memory) const {
  try {
    return memory.count == 0 || api_->allocation_of(device_, memory.data).bytes > 0;
  } catch (const Error&) {
    return false;  // foreign memory
  }
}

DevicePlace DeviceMaps::place_of(const TensorView& part, bool for_processes) {
  DevicePlace place{};
  place.bytes = part.bytes();
  if (part.count == 0) return place;
  const Allocation whole = api_->allocation_of(device_, part.data);
  place.allocation = whole.id;
  place.address = reinterpret_cast<std::uint64_t>(part.data);
  place.offset = static_cast<std::uint64_t>(part.data - whole.base);
  if (!for_processes) return place;
  const std::scoped_lock lock(mutex_);
  auto& handle = exported_[whole.id];
  if (handle.empty()) handle = api_->export_memory(device_, whole.base);
  if (handle.size() != sizeof place.handle)
    fail(Errc::internal, "a memory handle has {} bytes", handle.size());
  std::memcpy(place.handle, handle.data(), handle.size());
  return place;
}

std::byte* DeviceMaps::address_of(int rank, bool same_process, const DevicePlace& place) {
  if (same_process) return reinterpret_cast<std::byte*>(place.address);
  const std::pair key(rank, place.allocation);
  const std::scoped_lock lock(mutex_);
  auto found = mapped_.find(key);
  if (found == mapped_.end()) {
    void* const base = api_->import_memory(device_, {std::begin(place.handle), std::end(place.handle)});
    found = mapped_.emplace(key, base).first;
  }
  return static_cast<std::byte*>(found->second) + place.offset;
}

}  // namespace dist
