#include "dist/core/device.h"

#include <array>
#include <mutex>
#include <utility>

#include "dist/core/fail.h"

namespace dist {

namespace {

constexpr std::size_t device_types = 2;

struct Registry {
  std::mutex mutex;
  std::array<std::shared_ptr<DeviceApi>, device_types> apis;
};

Registry& registry() {
  static auto* instance = new Registry;  // outlives tensors in static storage
  return *instance;
}

std::size_t slot(DeviceType type) { return static_cast<std::size_t>(type); }

// Streams of this thread: for each type, by device index.
StreamHandle& stream_slot(Device device) {
  thread_local std::array<std::vector<StreamHandle>, device_types> streams;
  auto& of_type = streams[slot(device.type)];
  const auto index = static_cast<std::size_t>(device.index);
  if (index >= of_type.size()) of_type.resize(index + 1, nullptr);
  return of_type[index];
}

}  // namespace

DeviceApi& device_api(DeviceType type) {
  if (type == DeviceType::cpu) fail(Errc::internal, "the CPU has no device api; its kernels run directly");
  auto& all = registry();
  const std::scoped_lock lock(all.mutex);
  const auto& api = all.apis[slot(type)];
  if (!api)
    fail(Errc::unsupported,
         "no cuda devices in this build; configure with -DDIST_CUDA=ON on a machine with the CUDA toolkit "
         "and a GPU, "
         "or keep tensors on the cpu");
  return *api;
}

void set_device_api(DeviceType type, std::shared_ptr<DeviceApi> api) {
  auto& all = registry();
  const std::scoped_lock lock(all.mutex);
  std::swap(all.apis[slot(type)], api);
}

StreamHandle current_stream(Device device) {
  return device.type == DeviceType::cpu ? nullptr : stream_slot(device);
}

StreamGuard::StreamGuard(Device device, StreamHandle stream)
    : device_(device), before_(std::exchange(stream_slot(device), stream)) {}

StreamGuard::~StreamGuard() { stream_slot(device_) = before_; }

}  // namespace dist
