// CUDA for the probes: errors as Refused, and handles that free themselves. Not used by the harness.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

namespace probe {

inline int chosen_device = 0;  // --device

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw Refused(text("%s: %s (%s)", call, cudaGetErrorName(error), cudaGetErrorString(error)));
}
inline void check(CUresult error, const char* call) {
  if (error != CUDA_SUCCESS) throw Refused(text("%s: CUresult %d", call, static_cast<int>(error)));
}
#define TRY(call) ::probe::check((call), #call)

// A function of the driver, found at run time: the program starts without one.
template <class Function>
Function driver(const char* symbol) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  TRY(cudaGetDriverEntryPointByVersion(symbol, &found, 12000, cudaEnableDefault, &status));
#else
  TRY(cudaGetDriverEntryPoint(symbol, &found, cudaEnableDefault, &status));
#endif
  if (status != cudaDriverEntryPointSuccess || found == nullptr) {
    throw Refused(text("this driver has no %s", symbol));
  }
  return reinterpret_cast<Function>(found);
}

// Makes this process's context on the device under test.
inline void use_device() {
  TRY(cudaSetDevice(chosen_device));
  TRY(cudaFree(nullptr));
}

inline int attribute(cudaDeviceAttr which) {
  int value = 0;
  TRY(cudaDeviceGetAttribute(&value, which, chosen_device));
  return value;
}

class Stream {
 public:
  Stream() { TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT: passed to CUDA everywhere
  void synchronize() const { TRY(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) { TRY(cudaEventCreateWithFlags(&event_, flags)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT

 private:
  cudaEvent_t event_ = nullptr;
};

// Device memory of cudaMalloc.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) { TRY(cudaMalloc(&data_, bytes)); }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint32_t* words() const { return static_cast<std::uint32_t*>(data_); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

// A memfd: memory that processes share by its descriptor. Made before the ranks are forked.
class SharedFile {
 public:
  explicit SharedFile(std::size_t bytes) : fd_(memfd_create("probe", MFD_CLOEXEC)), bytes_(bytes) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
      throw Refused(text("memfd: %s", strerror(errno)));
  }
  ~SharedFile() { close(fd_); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  int fd() const { return fd_; }
  std::size_t bytes() const { return bytes_; }

 private:
  int fd_;
  std::size_t bytes_;
};

// A mapping of a SharedFile, registered with CUDA: host and device reach the same pages.
class RegisteredMemory {
 public:
  explicit RegisteredMemory(const SharedFile& file) : bytes_(file.bytes()) {
    host_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
    if (host_ == MAP_FAILED) throw Refused(text("mmap: %s", strerror(errno)));
    const double start = now_us();
    TRY(cudaHostRegister(host_, bytes_, cudaHostRegisterMapped | cudaHostRegisterPortable));
    register_us_ = now_us() - start;
    TRY(cudaHostGetDevicePointer(&device_, host_, 0));
  }
  ~RegisteredMemory() {
    cudaHostUnregister(host_);
    munmap(host_, bytes_);
  }
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;
  void* host() const { return host_; }
  void* device() const { return device_; }
  double register_us() const { return register_us_; }

 private:
  void* host_ = nullptr;
  void* device_ = nullptr;
  std::size_t bytes_;
  double register_us_ = 0;
};

}  // namespace probe
