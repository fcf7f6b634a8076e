// The direct algorithms (collectives/direct.h) on device memory, as a table.
#pragma once

#include <string_view>
#include <utility>

#include "dist/backend/operation.h"
#include "dist/backend/run_direct.h"
#include "dist/collectives/algorithms.h"
#include "dist/collectives/collective_args.h"
#include "dist/collectives/windows.h"
#include "dist/transport/device_round.h"

namespace dist {

// As Windows, where memory that others do not reach was replaced before.
class OneStep {
 public:
  OneStep(DeviceRound& round, const WindowPlan&) : round_(round) {}
  bool next() { return std::exchange(is_first_, false); }
  TensorView slice(const TensorView& part) const { return part; }
  TensorView of(int rank, std::int64_t count, int part = 0) { return round_.of(rank, count, part); }

 private:
  DeviceRound& round_;
  bool is_first_ = true;
};

// As DirectCall.
struct DeviceCall {
  using Round = DeviceRound;
  using Windows = OneStep;
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
