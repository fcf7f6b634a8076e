// The direct algorithms (collectives/direct.h) on device memory, as a table.
#pragma once

#include <string_view>

#include "dist/backend/operation.h"
#include "dist/collectives/collective_args.h"
#include "dist/transport/device_round.h"

namespace dist {

// As DirectCall.
struct DeviceCall {
  using Round = DeviceRound;
  DevicePeers& peers;
  RoundTerms terms;
  const RoundLabel& label;
};

using DeviceFunction = void (*)(const DeviceCall& call, const CollectiveArgs& args);

struct DeviceAlgorithm {
  OpKind collective;
  std::string_view name;  // as the one on the host that shares its code
  DeviceFunction run;
};

// What runs this operation, or null when it must go through the host: point-to-point, premul_sum, or an
// algorithm that was asked for by name and is not here.
const DeviceAlgorithm* device_algorithm(const Operation& operation);

}  // namespace dist
