// The calls of cuBLAS that layers need. The library is loaded when it is first needed: if it were linked, it
// would delay the start of every program by a tenth of a second, even of those that never train on a GPU.
#pragma once

#include <cublas_v2.h>

namespace dist::nn {

struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  // cublasGemmEx, of which the header has two.
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                         const void* alpha, const void* a, cudaDataType, int, const void* b, cudaDataType,
                         int, const void* beta, void* c, cudaDataType, int, cublasComputeType_t,
                         cublasGemmAlgo_t);
  decltype(&cublasGetStatusString) status_string;
};

// Throws Error{unsupported} if it cannot be loaded.
const Cublas& cublas_library();

}  // namespace dist::nn
