#include "dist/backend/device_algorithms.h"

#include <algorithm>
#include <array>

namespace dist {

namespace {

constexpr std::array table{
    DeviceAlgorithm{OpKind::all_reduce, "one_shot", on_rounds::one_shot_all_reduce},
    DeviceAlgorithm{OpKind::all_reduce, "two_shot", on_rounds::two_shot_all_reduce, Exposed::always},
    DeviceAlgorithm{OpKind::broadcast, "direct", on_rounds::direct_broadcast},
    DeviceAlgorithm{OpKind::reduce, "direct", on_rounds::direct_reduce},
    DeviceAlgorithm{OpKind::scatter, "direct", on_rounds::direct_scatter},
    DeviceAlgorithm{OpKind::gather, "direct", on_rounds::direct_gather},
    DeviceAlgorithm{OpKind::all_gather, "direct", on_rounds::direct_all_gather},
    DeviceAlgorithm{OpKind::reduce_scatter, "direct", on_rounds::direct_reduce_scatter},
    DeviceAlgorithm{OpKind::all_to_all, "direct", on_rounds::direct_all_to_all},
};

// One shot saves one synchronisation, but needs a copy and a kernel of every rank, which cost more where
// ranks share a device; and for data larger than a room it would take several rounds.
std::string_view default_name(const Operation& operation, bool share_devices) {
  if (operation.kind != OpKind::all_reduce) return "direct";
  return DeviceRound::fits(operation.outputs[0].bytes()) && !share_devices ? "one_shot" : "two_shot";
}

}  // namespace

const DeviceAlgorithm* device_algorithm(const Operation& operation, const AlgorithmEntry* asked,
                                        bool share_devices) {
  if (operation.op.kind() == ReduceOp::Kind::premul_sum) return nullptr;
  const std::string_view name = asked ? asked->name : default_name(operation, share_devices);
  const auto found = std::ranges::find_if(
      table, [&](const DeviceAlgorithm& a) { return a.collective == operation.kind && a.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace dist
