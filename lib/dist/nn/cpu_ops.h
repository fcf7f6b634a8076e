// The fastest Ops on the CPU that this build has: oneDNN's (onednn/onednn_ops.cpp), or plain loops
// (no_onednn.cpp).
#pragma once

#include "dist/nn/ops.h"

namespace dist::nn {

const Ops& cpu_ops();
// "oneDNN", or "plain loops: <why it is not oneDNN>".
const char* describe_cpu_ops();

}  // namespace dist::nn
