// Errors of CUDA calls as dist::Error: which rank, which call, which device, and what CUDA says.
#pragma once

#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "dist/core/device.h"
#include "dist/core/fail.h"

namespace dist::cuda_detail {

// "rank 2: cudaMalloc(1073741824) on cuda:0: out of memory; use smaller tensors, or free some". Memory that
// is missing is Errc::resource, all else Errc::internal.
[[noreturn]] void fail_call(cudaError_t error, Device device, const std::string& call);

// The call is written down only when it has failed.
template <class... Args>
void ensure(cudaError_t error, Device device, fmt::format_string<Args...> call, Args&&... args) {
  if (error != cudaSuccess) fail_call(error, device, fmt::format(call, std::forward<Args>(args)...));
}

// For a call whose failure changes nothing: the next launch must not be blamed for it.
inline void forget(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

// Makes a device current for this thread while it lives, as most CUDA calls want it.
class UseDevice {
 public:
  // If it cannot, the calls that follow say so; of what failed before, in anybody's code, they say nothing.
  explicit UseDevice(Device device) {
    cudaGetLastError();
    cudaGetDevice(&before_);
    changed_ = before_ != device.index && cudaSetDevice(device.index) == cudaSuccess;
  }
  ~UseDevice() {
    if (changed_) forget(cudaSetDevice(before_));
  }
  UseDevice(const UseDevice&) = delete;
  UseDevice& operator=(const UseDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

inline cudaStream_t stream_of(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }
inline cudaEvent_t event_of(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }

}  // namespace dist::cuda_detail
