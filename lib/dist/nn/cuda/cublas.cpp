#include "dist/nn/cuda/cublas.h"

#include <type_traits>

#include <dlfcn.h>

#include "dist/core/fail.h"

namespace dist::nn {

namespace {

// DIST_CUBLAS: where it was when this was built.
Cublas load() {
  void* const library = ::dlopen(DIST_CUBLAS, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(Errc::unsupported, "cuBLAS cannot be loaded: {}; install the CUDA Toolkit", ::dlerror());
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (!function)
      fail(Errc::unsupported, "{} has no {}; install the CUDA Toolkit again", DIST_CUBLAS, symbol);
  };
  Cublas found{};
  find(found.create, "cublasCreate_v2");
  find(found.set_stream, "cublasSetStream_v2");
  find(found.sgemm, "cublasSgemm_v2");
  find(found.status_string, "cublasGetStatusString");
  return found;
}

}  // namespace

const Cublas& cublas_library() {
  static const Cublas library = load();
  return library;
}

}  // namespace dist::nn
