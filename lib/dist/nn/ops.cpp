#include "dist/nn/ops.h"

#include "dist/core/fail.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

const Ops& ops_for(Device device) {
  static const PlainOps plain;
  if (device.type != DeviceType::cpu)
    fail(Errc::unsupported, "layers on {}: this build has none", device.str());
  return plain;
}

}  // namespace dist::nn
