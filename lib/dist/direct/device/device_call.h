// DeviceCall: one call of a direct algorithm on device memory.
#pragma once

#include "dist/direct/device/device_round.h"
#include "dist/direct/on_rounds.h"

namespace dist {

// Used like DirectCall (algorithms.h). Memory that other ranks do not reach was replaced before, so it needs
// no bounce buffers.
struct DeviceCall {
  using Round = DeviceRound;
  using Steps = on_rounds::OneStep<DeviceRound>;
  static constexpr bool has_bounce_buffers = false;
  DevicePeers& peers;
  RoundTerms terms;
  const CallLabel& label;
};

using DeviceAlgorithm = on_rounds::Body<DeviceCall>;

}  // namespace dist
