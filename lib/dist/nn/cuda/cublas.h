// The calls of cuBLAS that layers need. The library is loaded when it is first needed: linked, it would take
// every program a tenth of a second to start, those that never train on a GPU, too.
#pragma once

#include <cublas_v2.h>

namespace dist::nn {

struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSgemm_v2) sgemm;
  decltype(&cublasGetStatusString) status_string;
};

// Error{unsupported} when it cannot be loaded.
const Cublas& cublas_library();

}  // namespace dist::nn
