#include "dist/direct/device/device_messages.h"

#include <algorithm>

#include "dist/direct/device/device_message.h"

namespace dist {

DeviceMessages::~DeviceMessages() = default;

std::shared_ptr<CopyBatch> DeviceMessages::batch(Device device, int receives) {
  return std::make_shared<CopyBatch>(*this, device, receives);
}

std::unique_ptr<Transport> DeviceMessages::open(TransportOptions options, Device device,
                                                std::shared_ptr<CopyBatch> batch) {
  return std::make_unique<DeviceMessage>(*this, std::move(options), device, std::move(batch));
}

std::unique_ptr<DeviceMessages::Lane> DeviceMessages::take_lane(Device device) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(
        spare_, [&](const auto& lane) { return lane->device == device && lane->event.is_done(); });
    if (found != spare_.end()) {
      auto lane = std::move(*found);
      spare_.erase(found);
      return lane;
    }
  }
  return std::make_unique<Lane>(device);
}

void DeviceMessages::give_back(std::unique_ptr<Lane> lane) noexcept {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(lane));
}

void DeviceMessages::wake(const Lane& lane) {
  device_api(lane.device.type).notify(lane.device, lane.stream.handle(), [endpoint = endpoint_] {
    endpoint->interrupt();
  });
}

DeviceMaps& DeviceMessages::maps(Device device) {
  const std::scoped_lock lock(mutex_);
  auto& found = maps_[device.index];
  if (!found) found = std::make_unique<DeviceMaps>(device);
  return *found;
}

}  // namespace dist
