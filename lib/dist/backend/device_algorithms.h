// The direct algorithms (collectives/direct.h) on device memory, as a table.
#pragma once

#include <string_view>

#include "dist/backend/operation.h"
#include "dist/backend/run_direct.h"
#include "dist/collectives/algorithms.h"
#include "dist/collectives/collective_args.h"
#include "dist/collectives/direct_on_rounds.h"
#include "dist/transport/device_round.h"

namespace dist {

// As DirectCall. Memory that others do not reach was replaced before: it needs no windows.
struct DeviceCall {
  using Round = DeviceRound;
  using Windows = on_rounds::OneStep<DeviceRound>;
  static constexpr bool has_windows = false;
  DevicePeers& peers;
  RoundTerms terms;
  const CallLabel& label;
};

using DeviceFunction = void (*)(const DeviceCall& call, const CollectiveArgs& args);

struct DeviceAlgorithm {
  OpKind collective;
  std::string_view name;  // as the one on the host that shares its code
  DeviceFunction run;
  Exposed exposed = Exposed::when_long;
};

// What runs this operation, or null when that takes messages: premul_sum, or an algorithm that is not here.
// `asked`: the one that was asked for by name, null: none. `share_devices`: whether most ranks do.
const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked,
                                        bool share_devices);

}  // namespace dist
