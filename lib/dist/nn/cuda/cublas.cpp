#include "dist/nn/cuda/cublas.h"

#include <type_traits>

#include <dlfcn.h>

#include "dist/core/fail.h"

namespace dist::nn {

namespace {

// DIST_CUBLAS: its path when this was built. That one is tried first, because its header was used.
void* open() {
  for (const char* name : {DIST_CUBLAS, "libcublas.so.13", "libcublas.so.12"})
    if (void* const found = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  const char* const why = ::dlerror();
  fail(Errc::unsupported,
       "cuBLAS cannot be loaded: {}; install the CUDA Toolkit, or add its folder to LD_LIBRARY_PATH",
       why ? why : "no reason is given");
}

Cublas load() {
  void* const library = open();
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (!function) fail(Errc::unsupported, "this cuBLAS has no {}; install the CUDA Toolkit again", symbol);
  };
  Cublas found{};
  find(found.create, "cublasCreate_v2");
  find(found.set_stream, "cublasSetStream_v2");
  find(found.gemm, "cublasGemmEx");
  find(found.status_string, "cublasGetStatusString");
  return found;
}

}  // namespace

const Cublas& cublas_library() {
  static const Cublas library = load();
  return library;
}

}  // namespace dist::nn
