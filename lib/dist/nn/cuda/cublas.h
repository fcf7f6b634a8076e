// The calls of cuBLAS that layers need. The library is loaded when it is first needed: if it were linked, it
// would delay the start of every program by a tenth of a second, even of those that never train on a GPU.
#pragma once

#include <cublas_v2.h>

namespace dist::nn {

struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSgemm_v2) sgemm;
  decltype(&cublasGetStatusString) status_string;
};

// Throws Error{unsupported} if it cannot be loaded.
const Cublas& cublas_library();

}  // namespace dist::nn
