// Messages of device tensors: copies straight out of the sender's device memory.
//
// The sender's host offers the place of its data to the receiver, by a message with the user's tag; so it is
// matched with its receive as any message is. When the sender's stream has reached the data, the receiver's
// host enqueues the copy, and it answers when the copy has ended. No stream waits for another rank: if a
// rank dies, its messages fail as those of CPU tensors do. Where the receiver cannot reach the memory
// (another host; devices without a path), it asks for the data, which then comes through both hosts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dist/core/device.h"
#include "dist/direct/device/device_maps.h"
#include "dist/transport/endpoint.h"

namespace dist {

class CopyBatch;

// One rank's part in one group. Thread-safe. Messages and batches must not outlive it.
class DeviceMessages {
 public:
  explicit DeviceMessages(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  ~DeviceMessages();
  DeviceMessages(const DeviceMessages&) = delete;
  DeviceMessages& operator=(const DeviceMessages&) = delete;

  // The receives of one batch, on one device: what has arrived is copied by one launch.
  std::shared_ptr<CopyBatch> batch(Device device, int receives);
  // A transport for one message, which may belong to a batch. `options`: those of the message.
  std::unique_ptr<Transport> open(TransportOptions options, Device device,
                                  std::shared_ptr<CopyBatch> batch = nullptr);

 private:
  friend class CopyBatch;
  friend class DeviceMessage;
  // A stream of one message or batch, and an event on it: they are made once and used again.
  struct Lane {
    explicit Lane(Device on) : device(on), stream(on), event(on) {}
    Device device;
    Stream stream;
    Event event;
  };
  std::unique_ptr<Lane> take_lane(Device device);
  void give_back(std::unique_ptr<Lane> lane) noexcept;
  void wake(const Lane& lane);  // interrupts progress() when the lane's stream has reached its end
  DeviceMaps& maps(Device device);
  std::uint64_t next_number() { return ++numbers_; }

  const std::shared_ptr<Endpoint> endpoint_;
  std::atomic<std::uint64_t> numbers_{0};            // of this rank's sends
  std::mutex mutex_;                                 // guards the rest
  std::map<int, std::unique_ptr<DeviceMaps>> maps_;  // by the device's index
  std::vector<std::unique_ptr<Lane>> spare_;
};

// Bit of Channel::opcode's terms: the message's tensor is on a device.
inline constexpr std::uint32_t on_device_terms = 1;

}  // namespace dist
