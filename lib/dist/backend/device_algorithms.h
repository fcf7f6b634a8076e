// The direct algorithms (direct/algorithms.h) on device memory, as a table.
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

using DeviceFunction = void (*)(const DeviceCall& call, const CollectiveArgs& args);

struct DeviceAlgorithm {
  OpKind collective;
  std::string_view name;  // the name of the host's algorithm with the same code
  DeviceFunction run;
  Exposed exposed = Exposed::when_long;
};

// The algorithm that runs this operation, or null when it needs messages: for premul_sum, or an algorithm
// that is not in the table. `asked`: the one that was named, null: none. `share_devices`: whether most ranks
// share devices.
const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked,
                                        bool share_devices);

}  // namespace dist
