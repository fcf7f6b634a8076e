// Errors of CUDA calls as dist::Error: which rank, which call, which device, and what CUDA says.
#pragma once

#include <new>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "dist/core/device.h"
#include "dist/core/fail.h"

namespace dist::cuda_detail {

// "rank 2: cudaMalloc(1073741824) on cuda:0: out of memory; use smaller tensors, free some, or ...". Memory
// that is missing is Errc::resource, all else Errc::internal.
[[noreturn]] void fail_call(cudaError_t error, Device device, const std::string& call);

// The call is written down only when it has failed.
template <class... Args>
void ensure(cudaError_t error, Device device, fmt::format_string<Args...> call, Args&&... args) {
  if (error != cudaSuccess) fail_call(error, device, fmt::format(call, std::forward<Args>(args)...));
}

// For a call whose failure changes nothing, so that nobody asks CUDA about it later. An error that somebody
// else has not read yet stays.
inline void forget(cudaError_t error) {
  if (error != cudaSuccess && cudaPeekAtLastError() == error) cudaGetLastError();
}

// Whether this process has a context on the device, which takes memory there. Asking makes none.
bool has_context(int device);

// Makes a device current for this thread while it lives, as most CUDA calls want it. A device that nobody has
// used stays untouched: to make it current again would give it a context.
class UseDevice {
 public:
  // Throws as ensure(): the calls that follow would be another device's, without an error.
  explicit UseDevice(Device device) { ensure(use(device), device, "cudaSetDevice"); }
  // For whoever must go on, to free something: CUDA knows where that lies.
  UseDevice(Device device, std::nothrow_t) noexcept { forget(use(device)); }
  ~UseDevice() {
    if (changed_ && has_context(before_)) forget(cudaSetDevice(before_));
  }
  UseDevice(const UseDevice&) = delete;
  UseDevice& operator=(const UseDevice&) = delete;

 private:
  cudaError_t use(Device device) {
    cudaGetDevice(&before_);
    if (before_ == device.index) return cudaSuccess;
    const cudaError_t error = cudaSetDevice(device.index);
    changed_ = error == cudaSuccess;
    return error;
  }

  int before_ = 0;
  bool changed_ = false;
};

// A function of the driver, found at run time: the library loads without one. Null when there is none.
template <class Function>
Function driver(const char* symbol) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(symbol, &found, 12000, cudaEnableDefault, &status);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(symbol, &found, cudaEnableDefault, &status);
#endif
  forget(error);
  return error == cudaSuccess && status == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(found)
                                                                       : nullptr;
}

inline cudaStream_t stream_of(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }
inline cudaEvent_t event_of(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }

}  // namespace dist::cuda_detail
