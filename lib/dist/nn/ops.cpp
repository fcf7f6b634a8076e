#include "dist/nn/ops.h"

#include "dist/core/fail.h"
#include "dist/nn/cpu_ops.h"

namespace dist::nn {

const Ops& ops_for(Device device) {
  if (device.type != DeviceType::cpu)
    fail(Errc::unsupported, "layers on {}: this build has none", device.str());
  return cpu_ops();
}

}  // namespace dist::nn
