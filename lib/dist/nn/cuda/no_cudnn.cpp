#include "dist/core/fail.h"
#include "dist/nn/cuda/make.h"

namespace dist::nn {

// DIST_CUDNN_WHY: what CMake found out (lib/cmake/DistCuda.cmake).
const Ops& cuda_ops() {
  fail(Errc::unsupported,
       "this build has no layers for a GPU: cuDNN: " DIST_CUDNN_WHY "; train with Device cpu");
}

bool has_cuda_ops() { return false; }

}  // namespace dist::nn
