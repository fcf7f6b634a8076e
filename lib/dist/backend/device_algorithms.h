// The direct algorithms (direct/on_rounds.h) on device memory.
#pragma once

#include "dist/backend/operation.h"
#include "dist/backend/run_direct.h"
#include "dist/collectives/algorithms.h"
#include "dist/direct/device/device_call.h"

namespace dist {

// The algorithm that runs this operation, or null when it needs messages: for premul_sum, a barrier, or an
// algorithm that has no body. `asked`: the one that was named, null: none. `ranks`: of the group.
// `share_devices`: whether some ranks share a device.
const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked, int ranks,
                                        bool share_devices);

// Which tensors other ranks reach in place.
inline Exposed exposed_by(const DeviceAlgorithm& algorithm, bool share_devices) {
  if (algorithm.name == "one_shot") return Exposed::when_long;
  if (share_devices) return Exposed::everything;
  return algorithm.name == "two_shot" ? Exposed::always : Exposed::when_long;
}

}  // namespace dist
