#include "dist/backend/device_algorithms.h"

#include <string_view>

#include "dist/direct/device/served.h"

namespace dist {

namespace {

// One shot saves one synchronisation, but needs a copy and a kernel of every rank, which cost more where
// ranks share a device; and for data larger than a room it would take several rounds.
std::string_view default_name(const Operation& operation, bool share_devices) {
  if (operation.kind != OpKind::all_reduce) return "direct";
  return DeviceRound::fits(operation.outputs[0].bytes()) && !share_devices ? "one_shot" : "two_shot";
}

}  // namespace

const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked, int ranks,
                                        bool share_devices) {
  if (operation.op.kind() == ReduceOp::Kind::premul_sum || operation.kind == OpKind::barrier) return nullptr;
  const std::string_view name = asked ? asked->name : default_name(operation, share_devices);
  if (share_devices && name == "direct")
    if (const auto* const served = served_algorithm(operation.kind, ranks)) return served;
  return on_rounds::find_body<DeviceCall>(operation.kind, name);
}

}  // namespace dist
