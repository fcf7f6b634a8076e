#include "dist/core/memory/storage.h"

#include <algorithm>

#include "dist/core/device/recording.h"
#include "dist/core/fail.h"
#include "dist/core/memory/arena.h"
#include "dist/core/tasking.h"

namespace dist {

Storage::Storage(Device device, std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (device.type == DeviceType::cpu && Tasking::current() != nullptr) {
    Tasking* const maker = Tasking::current();
    data_ = maker->allocate(size);
    if (data_ == nullptr)
      fail(Errc::resource, "a simulated tensor of {} bytes does not fit into memory", size);
    free_ = [size, number = maker->number(), release = maker->release()](void* data) {
      Tasking* const running = Tasking::current();
      running && running->number() == number ? running->deallocate(data, size) : release(data, size);
    };
  } else if (device.type == DeviceType::cpu) {
    data_ = Arena::local().allocate(size);
    free_ = [](void* data) { Arena::local().deallocate(data); };
  } else {
    auto api = device_api(device.type).shared_from_this();
    if (device.index < 0 || device.index >= api->count())
      fail(Errc::invalid_argument, "{} does not exist; this machine has {} such devices", device.str(),
           api->count());
    data_ = api->allocate(device, size);
    free_ = [api, device](void* data) { Recording::after([=] { api->deallocate(device, data); }); };
  }
}

}  // namespace dist
