// DeviceMaps: how one rank says where its device memory is, and how it reaches that of other ranks. Each
// allocation of another process is mapped at first use and stays mapped; within one process its address is
// used as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dist/core/device.h"

namespace dist {

// Where a part of a rank's data is, for the other ranks. It fits into a notice.
struct DevicePlace {
  std::uint64_t allocation;  // its id in that process
  std::uint64_t address;     // for ranks of the same process
  std::uint64_t offset;      // in the allocation, for others
  std::uint64_t bytes : 63;
  std::uint64_t exposed : 1;  // the rank's own memory, not a copy
  std::byte handle[64];       // the allocation's handle, for ranks of other processes
};

// A word that the hosts exchange, as what a transport carries.
template <class T>
TensorView as_bytes(T& word) {
  return {reinterpret_cast<std::byte*>(&word), sizeof word, DType::u8, cpu};
}

// A number that no other process has: containers may have equal pids, and a forked child inherits static
// variables.
std::uint64_t process_number();

// Thread-safe.
class DeviceMaps {
 public:
  explicit DeviceMaps(Device device);
  ~DeviceMaps();
  DeviceMaps(const DeviceMaps&) = delete;
  DeviceMaps& operator=(const DeviceMaps&) = delete;

  // Whether the memory is in an allocation, which other processes can map.
  bool knows(const TensorView& memory) const;
  // `for_processes`: whether ranks of other processes need it. Throws where the memory is not known, or the
  // device lets no other process map it.
  DevicePlace place_of(const TensorView& part, bool for_processes);
  // Where that rank's place is, as this device reaches it. Throws where it does not.
  std::byte* address_of(int rank, bool same_process, const DevicePlace& place);

 private:
  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  std::mutex mutex_;                                          // guards the rest
  std::map<std::pair<int, std::uint64_t>, void*> mapped_;     // by rank and allocation
  std::map<std::uint64_t, std::vector<std::byte>> exported_;  // the handles, by allocation
};

}  // namespace dist
