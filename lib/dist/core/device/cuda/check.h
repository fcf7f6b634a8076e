// Errors of CUDA calls as dist::Error: which rank, which call, which device, and what CUDA says.
#pragma once

#include <new>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "dist/core/device.h"
#include "dist/core/fail.h"

namespace dist::cuda_detail {

// "rank 2: cudaMalloc(1073741824) on cuda:0: out of memory; use smaller tensors, free some, or ...". Missing
// memory is Errc::resource, everything else Errc::internal.
[[noreturn]] void fail_call(cudaError_t error, Device device, const std::string& call);

// The text of the call is formatted only if it has failed.
template <class... Args>
void ensure(cudaError_t error, Device device, fmt::format_string<Args...> call, Args&&... args) {
  if (error != cudaSuccess) fail_call(error, device, fmt::format(call, std::forward<Args>(args)...));
}

// For a call whose failure changes nothing, so that no later query of CUDA reports it. An error that other
// code has yet to read stays.
inline void forget(cudaError_t error) {
  if (error != cudaSuccess && cudaPeekAtLastError() == error) cudaGetLastError();
}

// Whether this process has a context on the device, which takes memory there. The question itself creates
// none.
bool has_context(int device);

// Makes a device current for this thread while it lives, as most CUDA calls need. A device that was current
// before but never used is not made current again, which would give it a context.
class UseDevice {
 public:
  // Throws as ensure() does: otherwise the calls that follow would go to another device, without an error.
  explicit UseDevice(Device device) { ensure(use(device), device, "cudaSetDevice"); }
  // Ignores errors: for code that frees something, and must go on. CUDA knows the device of what is freed.
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

// While it lives, this thread may call what CUDA otherwise refuses to a thread that captures, since some of
// it would break captures of other threads: to allocate, to ask for an event.
class RelaxedCapture {
 public:
  RelaxedCapture() { forget(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { forget(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// A function of the driver, looked up at run time, so that the library loads without a driver. Null if there
// is none.
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
