// The direct algorithms (direct/on_rounds.h) on device memory.
#pragma once

#include <string_view>

#include "dist/backend/operation.h"
#include "dist/backend/run_direct.h"
#include "dist/collectives/algorithms.h"
#include "dist/collectives/collective_args.h"
#include "dist/direct/device/device_round.h"
#include "dist/direct/on_rounds.h"

namespace dist {

// Used like DirectCall. Memory that other ranks do not reach was replaced before, so it needs no bounce
// buffers.
struct DeviceCall {
  using Round = DeviceRound;
  using Steps = on_rounds::OneStep<DeviceRound>;
  static constexpr bool has_bounce_buffers = false;
  DevicePeers& peers;
  RoundTerms terms;
  const CallLabel& label;
};

using DeviceAlgorithm = on_rounds::Body<DeviceCall>;

inline Exposed exposed_by(const DeviceAlgorithm& algorithm) {
  return algorithm.name == "two_shot" ? Exposed::always : Exposed::when_long;
}

// The algorithm that runs this operation, or null when it needs messages: for premul_sum, a barrier, or an
// algorithm that has no body. `asked`: the one that was named, null: none. `share_devices`: whether most
// ranks share devices.
const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked,
                                        bool share_devices);

}  // namespace dist
