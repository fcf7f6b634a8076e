#include "dist/nn/ops.h"

#include "dist/nn/cpu_ops.h"
#include "dist/nn/cuda/make.h"

namespace dist::nn {

const Ops& ops_for(Device device) { return device.type == DeviceType::cpu ? cpu_ops() : cuda_ops(); }

}  // namespace dist::nn
